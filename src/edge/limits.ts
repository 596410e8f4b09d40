// Limits how much of the edge one client may use, and sheds load when the edge is nearly full. HAProxy keeps
// the counters. After a reload they start at zero in the new worker; the old worker keeps its own until its
// connections have ended.

export interface Limits {
  /** The connection limit of each of the two frontends. */
  connections: number
  /** The limit per source address, for IPv6 per /64; 0 for none. */
  connectionsPerAddress: number
  /** The limit per source address and second, averaged over `rateSeconds`; 0 for none. */
  requestsPerAddress: number
}

const rateSeconds = 10
/** Shares of a frontend's connections. Above the first one, a connection closes after its response. */
const pressure = 0.75
/** Above this share, https accepts only connections for the server's own host name. */
const reserve = 0.9
/** The memory of a TLS connection with its buffers, in the middle of a request. */
const bytesPerConnection = 64 * 1024
const memoryShare = 1 / 4
const bounds = { least: 1000, most: 50_000 }

export function limitsFor(
  memoryBytes: number,
  { connectionsPerAddress, requestsPerAddress }: Omit<Limits, 'connections'>,
): Limits {
  const affordable = Math.floor((memoryBytes * memoryShare) / bytesPerConnection / 2)
  const connections = Math.min(bounds.most, Math.max(bounds.least, affordable))
  // A single address never causes pressure.
  const most = Math.floor(connections / 4)
  return { connections, connectionsPerAddress: Math.min(connectionsPerAddress, most), requestsPerAddress }
}

/** Rules for the start of a frontend, before all rules about requests. */
export function limitRules(
  { connections, connectionsPerAddress, requestsPerAddress }: Limits,
  { areProxiesTrusted, reservedFor }: { areProxiesTrusted: boolean; reservedFor: string | null },
): string {
  const isCounted = connectionsPerAddress > 0 || requestsPerAddress > 0
  const unlessProxy = areProxiesTrusted ? ' unless from_proxy' : ''
  return [
    ` maxconn ${connections}`,
    ...(isCounted
      ? [` tcp-request connection track-sc0 src,ipmask(32,64) table addresses${unlessProxy}`]
      : []),
    ...(connectionsPerAddress > 0
      ? [` tcp-request connection reject if { sc0_conn_cur gt ${connectionsPerAddress} }`]
      : []),
    ...(reservedFor === null
      ? []
      : [` tcp-request session reject if ${isAbove(connections * reserve)} !${isFor(reservedFor)}`]),
    ` http-after-response set-header connection close if ${isAbove(connections * pressure)} !{ status 101 }`,
  ].join('\n')
}

/** Selects the backend for a request whose address has sent too many. */
export function rateRouting({ requestsPerAddress }: Limits): string[] {
  if (requestsPerAddress === 0) return []
  return [` use_backend hasty if { sc0_http_req_rate gt ${requestsPerAddress * rateSeconds} }`]
}

/** The counters of all addresses; those of open connections are never dropped. */
export const addressTable = `backend addresses
 stick-table type ipv6 size 200k expire 1m store conn_cur,http_req_rate(${rateSeconds}s)`

function isFor(host: string): string {
  return `{ ssl_fc_sni -i ${host} }`
}

function isAbove(connections: number): string {
  return `{ fe_conn gt ${Math.floor(connections)} }`
}
