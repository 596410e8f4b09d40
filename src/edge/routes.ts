// The complete wanted state of the edge: pools of upstreams, and maps from hosts to pools, built from
// committed rows. Anything that is not in it is removed.

/** The upstreams of one service. Its name (`p7`) does not change during the life of the service. */
export interface Pool {
  name: string
  /** Upstreams by slot: `s1` is the first. */
  upstreams: (Upstream | null)[]
}

export interface Upstream {
  address: string
  port: number
  /** Whether it speaks HTTP/2 without TLS; otherwise HTTP/1.1. */
  isHttp2: boolean
  /** verifying: gets only verification requests; ready: serves; leaving: only finishes open requests. */
  state: 'verifying' | 'ready' | 'leaving'
}

/** The maps, which are files next to the configuration, with the meaning of their keys. */
export const mapNames = [
  'hosts',
  'https',
  'hsts',
  'challenges',
  'redirects',
  'body-limits',
  'timeouts',
] as const
export type MapName = (typeof mapNames)[number]

export interface Certificate {
  host: string
  /** Key and chain, without blank lines. */
  pem: string
}

export interface Routes {
  /** In the order of their numbers; `pools[0]` is `p1`. */
  pools: Pool[]
  /**
   * hosts: host to pool, `suspended`, `redirected` or `dashboard`; https: hosts that http redirects to https;
   * hsts: host to header; challenges: ACME token to response; redirects: host to host; body-limits: host to
   * bytes; timeouts: host to milliseconds.
   */
  maps: Record<MapName, Map<string, string>>
  certificates: Certificate[]
}

/** The minimum size of a pool: four instances, and four of the version that replaces them. */
export const minSlots = 8

export function poolName(number: number): string {
  return `p${number}`
}

/** `p7/s1` */
export function serverName(pool: number, slot: number): string {
  return `${poolName(pool)}/${slotName(slot)}`
}

export function slotName(slot: number): string {
  return `s${slot}`
}

/** `p7` is 7; NaN for another backend. */
export function numberIn(name: string): number {
  return /^[ps]\d+$/.test(name) ? Number(name.slice(1)) : Number.NaN
}

export function noMaps(): Routes['maps'] {
  return Object.fromEntries(mapNames.map((name) => [name, new Map()])) as Routes['maps']
}
