// The rules of the frontends: what is made of a request before it is known whose it is, what is answered
// here, and what is told of it.
// Mind: order counts. What a client claims is dropped before what is known is set.
import { type AnswerName, htmlOf, jsonOf } from './pages.ts'
import type { Place } from './place.ts'

const defaultBodyBytes = 512 * 1024 * 1024

/** HAProxy answers the CA itself. */
export function challengeRules(): string {
  const answer = 'status 200 content-type text/plain lf-string "%[var(txn.answer)]"'
  return ` http-request return ${answer} if { var(txn.answer) -m found }`
}

/** `redirect scheme` would keep the port of the Host header. */
export function redirectRules(place: Place, httpsPort: number): string {
  const port = httpsPort === 443 ? '' : `:${httpsPort}`
  // What is captured for the log is cut at 1,024 bytes.
  const location = `https://%[var(txn.host)]${port}%[pathq]`
  const hasCertificate = `{ var(txn.host),map_str(${place.map('https')}) -m found }`
  const condition = `${hasCertificate} !{ req.hdr(x-forwarded-proto) https }`
  return ` http-request redirect location ${location} code 308 if ${condition}`
}

export function hstsRules(place: Place): string {
  const value = `var(txn.host),map_str(${place.map('hsts')})`
  return ` http-after-response set-header strict-transport-security %[${value}] if { ${value} -m found }`
}

/** What holds for each request before it is known whose it is. */
export function frontendRules(
  place: Place,
  { trustedProxies }: { trustedProxies: readonly string[] },
  scheme: 'http' | 'https',
): string {
  const proxies = trustedProxies.length > 0 ? trustedProxies.join(' ') : '0.0.0.0/32'
  const kept = (header: string) => `unless from_proxy { req.hdr(${header}) -m found }`
  const rules = [
    'set-var(txn.id) uuid()',
    'set-var(txn.host) req.hdr(host),field(1,:),lower,rtrim(.)',
    'set-var(txn.path) path,bytes(0,1000)',
    'set-var(txn.agent) req.hdr(user-agent),bytes(0,300)',
    'set-var(txn.client) src',
    'set-var(txn.client) req.hdr(x-forwarded-for,-1) if from_proxy { req.hdr(x-forwarded-for) -m found }',
    `set-var(txn.kind) str(json) if ${accepts('application/json')} !${accepts('text/html')}`,
    'del-header x-forwarded- -m beg unless from_proxy',
    'del-header x-real-ip unless from_proxy',
    'del-header forwarded unless from_proxy',
    'del-header proxy',
    'del-header x-berth- -m beg',
    // To CGI, WSGI, PHP and Rack they are the same as with a dash. nginx drops them too.
    'del-header _ -m sub',
    // Inside such a tunnel no rule of these would hold.
    'del-header upgrade if { req.hdr(upgrade) -m sub -i h2c }',
    'del-header http2-settings',
    'set-header x-request-id %[var(txn.id)]',
    'add-header x-forwarded-for %[src]',
    `set-header x-forwarded-proto ${scheme} ${kept('x-forwarded-proto')}`,
    `set-header x-forwarded-host %[req.hdr(host)] ${kept('x-forwarded-host')}`,
    `set-header x-real-ip %[var(txn.client)] ${kept('x-real-ip')}`,
    'disable-l7-retry unless { method GET HEAD OPTIONS }',
    `set-var(txn.answer) path,field(4,/),map_str(${place.map('challenges')}) if ${isChallenge}`,
    `set-var(txn.most) var(txn.host),map_str_int(${place.map('body-limits')},${defaultBodyBytes})`,
    ...returning('large', 413, '{ req.hdr(content-length),sub(txn.most) gt 0 }'),
  ]
  return [
    ` acl from_proxy src ${proxies}`,
    ...rules.map((rule) => ` http-request ${rule}`),
    ` http-after-response set-header content-type application/problem+json if ${isOwnAnswer} ${wantsJson}`,
    ' http-after-response del-header x-berth-answer',
    ' http-after-response set-header x-request-id %[var(txn.id)]',
    ` log-format '${logFormat(scheme)}'`,
  ].join('\n')
}

const accepts = (type: string) => `{ req.hdr(accept) -m sub ${type} }`
const isChallenge = '{ path_beg /.well-known/acme-challenge/ }'
const isOwnAnswer = '{ res.hdr(x-berth-answer) -m found }'
const wantsJson = '{ var(txn.kind) -m found }'

/** See `AccessEvent`. What clients choose is escaped. */
function logFormat(scheme: 'http' | 'https'): string {
  const text = (expression: string) => `"%[${expression},json(utf8s)]"`
  const fields = [
    ['at', '%[date(0,ms)]'],
    ['id', '"%[var(txn.id)]"'],
    ['client', text('var(txn.client)')],
    ['host', text('var(txn.host),bytes(0,255)')],
    ['method', text('capture.req.method')],
    ['path', text('var(txn.path)')],
    ['protocol', '"%HV"'],
    ['tls', String(scheme === 'https')],
    ['status', '%ST'],
    ['pool', '"%b"'],
    ['upstream', '"%s"'],
    ['in', '%U'],
    ['out', '%B'],
    ['ms', '%Ta'],
    // Of these, from the first byte of the answer's body to the last.
    ['data', '%Td'],
    ['agent', text('var(txn.agent)')],
  ]
  return `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`
}

export function answering(name: AnswerName, status: number): string {
  return returning(name, status)
    .map((rule) => ` http-request ${rule}`)
    .join('\n')
}

/** An answer of the edge's own, on a condition or always. */
function returning(name: AnswerName, status: number, condition = ''): string[] {
  const more = `hdr cache-control no-store${status === 503 ? ' hdr retry-after 60' : ''}`
  const json = `content-type application/problem+json lf-string ${quoted(jsonOf(name, status))}`
  const html = `content-type "text/html; charset=utf-8" lf-string ${quoted(htmlOf(name))}`
  return [
    `return status ${status} ${json} ${more} if ${wantsJson} ${condition}`,
    `return status ${status} ${html} ${more} ${condition && `if ${condition}`}`,
  ]
}

/** As one word of the configuration, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
