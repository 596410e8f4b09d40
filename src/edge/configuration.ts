// The configuration of HAProxy with its current routes, so that a reload, a crash or a boot without the
// daemon serves the same ones. Services differ only in pools and maps, which change at run time. Everything
// else is the frame, and only a change of the frame requires a reload.
import { createHash } from 'node:crypto'
import type { EdgeFiles } from './files.ts'
import type { Frame } from './frame.ts'
import { addressTable, rateRouting } from './limits.ts'
import { type ErrorPageName, pagesText } from './pages.ts'
import { minSlots, type Pool, serverName, slotName, type Upstream } from './routes.ts'
import {
  errorBackends,
  errorResponses,
  frontendRules,
  hstsRules,
  httpRouting,
  ownRouting,
  routing,
} from './rules.ts'

const defaultTimeoutMs = 75_000
/** Path, agent and host are truncated; escaped, they may be six times as long. Longer lines are truncated. */
const longestLine = 12_000

/** The timeout of the daemon's sockets. */
const ownConnections = 100
/** A head must fit, including cookies that other sites of the domain have set. */
const bufferBytes = 32 * 1024

/** The part that all services share; equal fingerprints need no reload. */
export function fingerprintOf(files: EdgeFiles, frame: Frame): string {
  const [slots, http2Slots] = [[...frame.slots].sort(), [...frame.http2Slots].sort()]
  return createHash('sha256')
    .update(JSON.stringify([frameText(files, frame), frame.pools, slots, http2Slots, pagesText()]))
    .digest('hex')
    .slice(0, 16)
}

export function renderConfiguration(files: EdgeFiles, frame: Frame, pools: readonly Pool[]): string {
  const head = `${frameText(files, frame)}\n`.replace('@FRAME@', fingerprintOf(files, frame))
  return (
    head + Array.from({ length: frame.pools }, (_, at) => poolText(files, at + 1, pools[at], frame)).join('')
  )
}

function frameText(files: EdgeFiles, frame: Frame): string {
  const { httpPort, httpsPort } = frame
  return [
    globalSection(files, frame),
    defaultsSection(files),
    `frontend http
${binds(frame, httpPort)}
${frontendRules(files, frame, 'http')}
${httpRouting(files, frame)}`,
    `frontend https
${binds(frame, httpsPort, ` ssl crt-list ${files.certificateList} alpn h2,http/1.1`)}
${frontendRules(files, frame, 'https')}
${hstsRules(files)}
${[ownRouting(frame), ...rateRouting(frame.limits), routing(files)].join('\n')}`,
    `frontend verify
 bind "unix@\${BERTH_VERIFY_SOCKET}" mode 600${ownerText(frame)}
 no log
 http-request set-var(txn.id) uuid()
 http-request set-var(txn.host) req.hdr(host),field(1,:),lower
 http-request set-var(txn.upstream) req.hdr(x-berth-upstream)
 http-request del-header x-berth-upstream
 http-request set-header x-forwarded-for 127.0.0.1
 http-request set-header x-forwarded-proto http
 http-after-response set-header x-berth-upstream %s
${routing(files)}`,
    addressTable,
    errorBackends(files, frame),
    dashboardSection(frame),
  ].join('\n\n')
}

/** One bind per address family: on a common one, IPv4 clients would have IPv4-mapped IPv6 addresses. */
function binds({ hasIpv6 }: Frame, port: number, options = ''): string {
  return [` bind *:${port}${options}`, ...(hasIpv6 ? [` bind :::${port} v6only${options}`] : [])].join('\n')
}

// HAProxy sets SO_REUSEPORT by default: the kernel then divides a port's connections between two of them.
// A later generation takes the sockets over (`-x`) and does not bind.
function globalSection(files: EdgeFiles, frame: Frame): string {
  return `global
 setenv BERTH_FRAME @FRAME@
 presetenv BERTH_ADMIN_SOCKET ${files.adminSocket}
 presetenv BERTH_VERIFY_SOCKET ${files.verifySocket}
 stats socket "\${BERTH_ADMIN_SOCKET}" mode 600${ownerText(frame)} level admin expose-fd listeners
 stats timeout 1h
${workerText(files, frame)} maxconn ${2 * frame.limits.connections + ownConnections}
 tune.bufsize ${bufferBytes}
 no strict-limits
 hard-stop-after 1h
 log ring@access len ${longestLine} format raw local0
 noreuseport
${tlsText}

ring access
 format raw
 maxlen ${longestLine}
 size 8388608`
}

// Mozilla's intermediate list without DHE, which costs the server much more than the client. Clients without
// ECDHE-RSA use ECDHE-ECDSA with the ECDSA keys of Berth's certificates. OpenSSL before 3.5 refuses a list
// that contains X25519MLKEM768.
const ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
]
const suites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']
const tlsText = ` ssl-default-bind-ciphers ${ciphers.join(':')}
 ssl-default-bind-ciphersuites ${suites.join(':')}
 ssl-default-bind-options prefer-client-ciphers ssl-min-ver TLSv1.2 no-tls-tickets
.if openssl_version_atleast(3.5.0)
 ssl-default-bind-curves X25519MLKEM768:X25519:prime256v1:secp384r1
.else
 ssl-default-bind-curves X25519:prime256v1:secp384r1
.endif`

/** The worker has read its files and opened its ports before. */
function workerText({ emptyDirectory }: EdgeFiles, { worker }: Frame): string {
  return worker ? ` uid ${worker.uid}\n gid ${worker.gid}\n chroot ${emptyDirectory}\n` : ''
}

function ownerText({ socketOwner }: Frame): string {
  return socketOwner ? ` uid ${socketOwner.uid} gid ${socketOwner.gid}` : ''
}

// Without abortonclose, the count of open requests stays wrong for seconds after a client has left. Error
// pages are built only when needed: building them for each request costs a tenth of the throughput.
// Applications close idle connections (gunicorn after 2 s, Node after 5 s), and a POST in flight then cannot
// be retried, so the edge closes its idle connections earlier. Without http-no-delay, the kernel holds each
// piece of an HTTP/1.1 body back for 200 ms.
function defaultsSection(files: EdgeFiles): string {
  return `defaults
 mode http
 log global
 option dontlognull
 option abortonclose
 option idle-close-on-response
 option http-no-delay
 http-reuse safe
 default-server pool-purge-delay 500ms
 timeout connect 2s
 timeout client 75s
 timeout server ${defaultTimeoutMs}ms
 timeout client-fin 10s
 timeout tunnel 1h
 timeout http-request 10s
 timeout http-keep-alive 15s
 timeout queue 10s
 retries 3
 retry-on conn-failure empty-response
 option redispatch 1
${errorPage(files, 400, 'malformed')}
${errorPage(files, 500, 'failed')}
${errorPage(files, 502, 'broken')}
${errorPage(files, 503, 'unready')}
${errorPage(files, 504, 'slow')}
.if version_atleast(3.1.0)
 option http-drop-request-trailers
.endif`
}

function errorPage(files: EdgeFiles, status: number, name: ErrorPageName): string {
  const part = (end: string) => `%[str(${name}.),concat(,txn.kind,.${end}),map_str(${files.pages})]`
  return (
    ` http-error status ${status} content-type "text/html; charset=utf-8"` +
    ` lf-string '${part('head')}%[var(txn.id)]${part('tail')}'` +
    ` hdr x-berth-answer 1 hdr cache-control no-store${status > 500 ? ' hdr retry-after 5' : ''}`
  )
}

/** A cookie that is not the API's: sites below the same domain can set some for its host, 4 KiB each. */
const foreignCookie = '(?<![^; ])(?!svc_)[^; ][^;]*'

/** The API itself. It trusts the edge's headers about the client because of the secret. */
function dashboardSection({ dashboard }: Frame): string {
  if (!dashboard) return `backend dashboard\n${errorResponses('unknown', 404)}`
  // A connection to it is never shared: a misrouted response would show secrets to another client.
  return `backend dashboard
 http-reuse never
 http-request deny deny_status 404 unless { req.hdr(x-forwarded-proto) https }
 http-request set-header x-berth-edge ${dashboard.secret}
 http-request set-header cookie '%[req.fhdr(cookie),regsub("${foreignCookie}","",g)]' if { req.cook_cnt gt 0 }
 server api ${dashboard.address}`
}

function poolText(files: EdgeFiles, number: number, pool: Pool | undefined, frame: Frame): string {
  const slots = frame.slots.get(number) ?? minSlots
  const isHttp2 = Array.from({ length: slots }, (_, at) => frame.http2Slots.has(serverName(number, at + 1)))
  const pages = isHttp2.includes(true) ? [errorPage(files, 502, 'brokenHttp2')] : []
  const servers = isHttp2.map((is, at) => serverText(at + 1, pool?.upstreams[at] ?? null, is))
  return `
backend p${number}
 balance leastconn
 http-request set-timeout server var(txn.host),map_str_int(${files.map('timeouts')},${defaultTimeoutMs})
 use-server %[var(txn.upstream)] if { var(txn.upstream) -m found }
${[...pages, ...servers].join('\n')}
`
}

function serverText(slot: number, upstream: Upstream | null, isHttp2: boolean): string {
  const name = slotName(slot)
  const protocol = isHttp2 ? ' proto h2' : ''
  if (!upstream) return ` server ${name} 127.0.0.1:1${protocol} disabled`
  const { address, port, state } = upstream
  const more = state === 'ready' ? '' : state === 'verifying' ? ' weight 0' : ' disabled'
  return ` server ${name} ${address}:${port}${protocol}${more}`
}
