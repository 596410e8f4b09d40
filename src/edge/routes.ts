// What the edge should be serving: pools of upstreams, and maps that say which host gets which pool.
// It is whole. What is not in it is taken away, so it is always made from committed rows.

/** The upstreams of one service. Its place (`p7`) stays the same as long as the service is there. */
export interface Pool {
  name: string
  /** By slot: `s1` is the first. */
  upstreams: (Upstream | null)[]
}

export interface Upstream {
  address: string
  port: number
  /** verifying: reached by a verification alone; ready: serves; leaving: only finishes what is open. */
  state: 'verifying' | 'ready' | 'leaving'
}

/** The maps, which are files next to the configuration, and what their keys are. */
export const mapNames = ['hosts', 'https', 'hsts', 'challenges', 'body-limits', 'timeouts'] as const
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
   * hosts: host to pool, `suspended` or `dashboard`; https: hosts that http leads to https; hsts: host to
   * header; challenges: ACME token to answer; body-limits: host to bytes; timeouts: host to milliseconds.
   */
  maps: Record<MapName, Map<string, string>>
  certificates: Certificate[]
}

/** How many slots a pool has at least: four instances, and four of the version that replaces them. */
export const leastSlots = 8

export function poolName(number: number): string {
  return `p${number}`
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
