// The rules of the frontends: they normalize a request before it is routed, produce the edge's own responses,
// and log. The order matters: a client's claims are dropped before trusted values are set.

import type { EdgeFiles } from './files.ts'
import type { Frame } from './frame.ts'
import { limitRules, rateRouting } from './limits.ts'
import { type ErrorPageName, htmlOf, jsonOf } from './pages.ts'

/** Together with its head, the body fits into a buffer of HAProxy. */
const smallBodyBytes = 16 * 1024
const bodyMs = 10_000
const defaultBodyBytes = 512 * 1024 * 1024

/** The routing of http requests: HAProxy answers ACME challenges itself, and redirects to https. */
export function httpRouting(files: EdgeFiles, frame: Pick<Frame, 'limits' | 'ownHost'>): string {
  const hasCertificate = `{ var(txn.host),map_str(${files.map('https')}) -m found }`
  return [
    ownRouting(frame),
    ...rateRouting(frame.limits),
    ` use_backend challenge if { path_beg ${challengePath} } { ${challengeAnswer(files)} -m found }`,
    ` use_backend tohttps if ${hasCertificate} !{ req.hdr(x-forwarded-proto) https }`,
    routing(files),
  ].join('\n')
}

/** Before all limits: the daemon recognizes its edge by this answer. */
export function ownRouting({ ownHost }: Pick<Frame, 'ownHost'>): string {
  return ` use_backend own if { var(txn.host) -m str ${ownHost} }`
}

export function routing(files: EdgeFiles): string {
  return [
    ` use_backend large if ${hasLength} { req.hdr(content-length),sub(txn.most) gt 0 }`,
    ` use_backend %[var(txn.host),map_str(${files.map('hosts')},nohost)]`,
  ].join('\n')
}

/** The edge's own responses, as backends: a rule that is not evaluated costs nothing. */
export function errorBackends(
  files: EdgeFiles,
  { httpPort, httpsPort }: Pick<Frame, 'httpPort' | 'httpsPort'>,
): string {
  // `redirect scheme` would keep the port of the Host header.
  const port = httpsPort === 443 ? '' : `:${httpsPort}`
  const plainPort = httpPort === 80 ? '' : `:${httpPort}`
  const isSecure = '{ req.hdr(x-forwarded-proto) https }'
  const hasCertificate = `{ var(txn.target),map_str(${files.map('https')}) -m found }`
  const toTarget = (origin: string) => `redirect location ${origin}%[pathq] code 308`
  return `backend challenge
 http-request return status 200 content-type text/plain lf-string "%[${challengeAnswer(files)}]"

backend tohttps
 http-request redirect location https://%[var(txn.host)]${port}%[pathq] code 308

backend redirected
 http-request set-var(txn.target) var(txn.host),map_str(${files.map('redirects')})
 http-request ${toTarget(`https://%[var(txn.target)]${port}`)} if ${isSecure} || ${hasCertificate}
 http-request ${toTarget(`http://%[var(txn.target)]${plainPort}`)}

backend large
${errorResponses('large', 413)}

backend nohost
${errorResponses('unknown', 404)}

backend hasty
${errorResponses('hasty', 429)}

backend suspended
${errorResponses('suspended', 503)}

backend own
 http-request return status 204`
}

const challengePath = '/.well-known/acme-challenge/'
/** Looks up the token, which is the end of the path. */
const challengeAnswer = (files: EdgeFiles) => `path,field(4,/),map_str(${files.map('challenges')})`

export function hstsRules(files: EdgeFiles): string {
  const value = `var(txn.host),map_str(${files.map('hsts')})`
  return ` http-after-response set-header strict-transport-security %[${value}] if { ${value} -m found }`
}

/** Rules for each request before its service is known. Each rule costs every request. */
export function frontendRules(
  files: EdgeFiles,
  { trustedProxies, limits, dashboard }: Pick<Frame, 'trustedProxies' | 'limits' | 'dashboard'>,
  scheme: 'http' | 'https',
): string {
  const areProxiesTrusted = trustedProxies.length > 0
  const reservedFor = scheme === 'https' ? (dashboard?.host ?? null) : null
  const rules = [
    'set-var(txn.id) uuid()',
    'set-var(txn.host) req.fhdr(host),field(1,:),lower,rtrim(.)',
    'set-var(txn.agent) req.hdr(user-agent),bytes(0,300)',
    `set-var(txn.kind) str(json) if ${accepts('application/json')} !${accepts('text/html')}`,
    `deny deny_status 400 unless ${namesOneHost}`,
    `deny deny_status 400 if ${hasUser}`,
    ...dropping(areProxiesTrusted),
    // No rule applies inside such a tunnel.
    'del-header upgrade if { req.hdr(upgrade) -m sub -i h2c }',
    'set-header x-request-id %[var(txn.id)]',
    ...(areProxiesTrusted ? wayByProxies(scheme) : wayOf(scheme)),
    'disable-l7-retry unless { method GET HEAD OPTIONS }',
    `set-var(txn.most) ${maxBytes(files)} if ${hasLength}`,
    // A client that sends slowly occupies no instance until a small body is complete.
    `wait-for-body time ${bodyMs} if ${hasLength} { req.hdr_val(content-length) le ${smallBodyBytes} }`,
  ]
  return [
    ...(areProxiesTrusted ? [` acl from_proxy src ${trustedProxies.join(' ')}`] : []),
    limitRules(limits, { areProxiesTrusted, reservedFor }),
    ...rules.map((rule) => ` http-request ${rule}`),
    unshared,
    // The application's time limit for idle connections is not the edge's.
    ' http-response del-header keep-alive',
    ` http-after-response set-header content-type application/problem+json if ${isOwnAnswer} ${wantsJson}`,
    ` http-after-response del-header x-berth-answer if ${mayBeOwn}`,
    ' http-after-response set-header x-request-id %[var(txn.id)]',
    ` log-format '${logFormat(scheme)}'`,
  ].join('\n')
}

const label = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?'
const port = '(:([0-5]?[0-9]{0,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?'
const name = `^(?=[^:]{1,254}(:|$))${label}(\\.${label})*\\.?${port}$`
const address = `^\\[[0-9a-f:.]+\\]${port}$`
/** Applications make links from the whole Host: `a.example:x@evil.example` would lead elsewhere. */
const namesOneHost = [
  `{ req.fhdr(host) -m reg -i '${name}' }`,
  `{ req.fhdr(host) -m reg -i '${address}' } { req.fhdr(host),field(2,[),field(1,]) -m ip ::/0 0.0.0.0/0 }`,
].join(' || ')
/** HAProxy compares the host of a target in absolute form with Host, but not what precedes it. */
const hasUser = '!{ url_beg / } { url,field(3,/) -m sub @ }'

/** Berth's own, of the connection only, or misused: CGI, WSGI, PHP and Rack take `_` in a name for `-`. */
const reserved = 'x-berth-.*|proxy|http2-settings|keep-alive|proxy-connection|.*_.*'
const ofTheWay = [
  'x-forwarded-.*',
  'forwarded',
  'x-real-ip',
  '(x-|true-|x-cluster-|fastly-)?client-ip',
  'cf-connecting-ip',
  'x-original-(url|host|forwarded-for)',
  'x-rewrite-url',
].join('|')

/** Uses one expression if possible, which is cheaper than a rule per header. */
function dropping(areProxiesTrusted: boolean): string[] {
  const drop = (names: string) => `del-header ^(${names})$ -m reg`
  if (!areProxiesTrusted) return [drop(`${reserved}|${ofTheWay}`)]
  return [drop(reserved), `${drop(ofTheWay)} unless from_proxy`]
}

/**
 * The connection to the server is not reused after a body without a length: it may end with trailers, which
 * some servers take for another request, whose response would go to the next client. From 3.1 on HAProxy can
 * drop them (see `defaults`). `Transfer-Encoding` is sent for such a body, also for one of HTTP/2; a request
 * without a body ends with its headers. WebSockets of HTTP/2 have no end, and their headers must stay.
 */
const hasNoEnd = ['!{ internal.htx.has_eom }', '!{ internal.htx_blk.type(tail) HTX_BLK_EOH }']
const mayHaveTrailers = [
  ...hasNoEnd.map((it) => `${it} !{ req.hdr(content-length) -m found } !{ req.hdr(upgrade) -m found }`),
  '{ req.hdr(transfer-encoding) -m found }',
].join(' || ')
const unshared = `.if !version_atleast(3.1.0)
 http-request set-header connection close if ${mayHaveTrailers}
.endif`

/** The origin and the target of the request. */
function wayOf(scheme: 'http' | 'https'): string[] {
  return [
    'set-header x-forwarded-for %[src]',
    `set-header x-forwarded-proto ${scheme}`,
    'set-header x-forwarded-host %[req.fhdr(host)]',
    'set-header x-real-ip %[src]',
  ]
}

/** With trusted proxies, their headers are believed and extended. */
function wayByProxies(scheme: 'http' | 'https'): string[] {
  const missing = (header: string) => `unless { req.hdr(${header}) -m found }`
  return [
    'add-header x-forwarded-for %[src]',
    `set-header x-forwarded-proto ${scheme} ${missing('x-forwarded-proto')}`,
    `set-header x-forwarded-host %[req.fhdr(host)] ${missing('x-forwarded-host')}`,
    // From here on the source address is that of the proxy's client.
    'set-src req.hdr_ip(x-forwarded-for,-2) if from_proxy',
    `set-header x-real-ip %[src] ${missing('x-real-ip')}`,
  ]
}

const accepts = (type: string) => `{ req.hdr(accept) -m sub ${type} }`
const maxBytes = (files: EdgeFiles) =>
  `var(txn.host),map_str_int(${files.map('body-limits')},${defaultBodyBytes})`
const hasLength = '{ req.hdr(content-length) -m found }'
/** For these statuses HAProxy serves Berth's own pages (`http-error`), and marks them. */
const mayBeOwn = '{ status 400 500 502 503 504 }'
const isOwnAnswer = `${mayBeOwn} { res.hdr(x-berth-answer) -m found }`
const wantsJson = '{ var(txn.kind) -m found }'

/** The log format, see `AccessEvent`. Text from clients is escaped. */
function logFormat(scheme: 'http' | 'https'): string {
  const text = (expression: string) => `"%[${expression},json(utf8s)]"`
  const fields = [
    ['at', '%[date(0,ms)]'],
    ['id', '"%[var(txn.id)]"'],
    ['client', '"%ci"'],
    ['host', text('var(txn.host),bytes(0,255)')],
    ['method', '"%HM"'],
    ['path', text('capture.req.uri,field(1,?),bytes(0,1000)')],
    ['protocol', '"%HV"'],
    ['tls', String(scheme === 'https')],
    ['status', '%ST'],
    ['end', '"%ts"'],
    ['pool', '"%b"'],
    ['upstream', '"%s"'],
    ['in', '%U'],
    ['out', '%B'],
    ['ms', '%Ta'],
    // The part of the duration from the first byte of the response's body to the last.
    ['data', '%Td'],
    ['agent', text('var(txn.agent)')],
  ]
  return `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`
}

/** In seconds. */
const retryAfter: Record<number, number> = { 429: 10, 503: 60 }

export function errorResponses(name: ErrorPageName, status: number): string {
  const wait = retryAfter[status]
  const more = `hdr cache-control no-store${wait ? ` hdr retry-after ${wait}` : ''}`
  const json = `content-type application/problem+json lf-string ${quoted(jsonOf(name, status))}`
  const html = `content-type "text/html; charset=utf-8" lf-string ${quoted(htmlOf(name))}`
  return [
    ` http-request return status ${status} ${json} ${more} if ${wantsJson}`,
    ` http-request return status ${status} ${html} ${more}`,
  ].join('\n')
}

/** One quoted word of the configuration, with any content. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
