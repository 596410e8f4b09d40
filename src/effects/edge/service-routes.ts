// The wanted routes of the edge, from the committed rows of all services. A row is read again only when its
// service changed, so one change costs the same among a thousand services.
import type { ServiceRow } from '../../../storage/services.ts'
import type { UpstreamRow } from '../../../storage/upstreams.ts'
import { hostsOf, isPublicType, redirectOf, wildcardOf } from '../../domain/domains.ts'
import { noMaps, type Pool, poolName, type Routes, type Upstream } from '../../edge/routes.ts'
import type { EdgePorts } from './ports.ts'

export interface RouteParts extends Pick<EdgePorts, 'storage'> {
  settings: Pick<EdgePorts['settings'], 'baseDomain'>
}

export interface ServiceRoute {
  id: string
  pool: number
  hosts: string[]
  /** Host to host. */
  redirects: ReadonlyMap<string, string>
  isSuspended: boolean
  hsts: boolean
  bodyLimitBytes: number
  timeoutMs: number
  upstreams: UpstreamRow[]
}

const hstsHeader = 'max-age=31536000'

export class ServiceRoutes {
  readonly #parts: RouteParts
  readonly #routes = new Map<string, ServiceRoute | null>()
  readonly #stale = new Set<string>()
  #byHost: Map<string, ServiceRoute> | null = null
  #isLoaded = false

  constructor(parts: RouteParts) {
    this.#parts = parts
  }

  /** The service is read again at the next use. */
  touch(serviceId: string): void {
    this.#stale.add(serviceId)
  }

  async ensurePools(): Promise<void> {
    for (const { id } of this.all().filter(({ pool }) => pool === 0)) {
      await this.#parts.storage.upstreams.allocatePool(id)
      this.touch(id)
    }
  }

  all(): ServiceRoute[] {
    this.#load()
    return [...this.#routes.values()].filter((route) => route !== null)
  }

  byHost(host: string): ServiceRoute | null {
    this.#load()
    const byHost = () => this.all().flatMap((route) => route.hosts.map((one) => [one, route] as const))
    this.#byHost ??= new Map(byHost())
    return this.#byHost.get(host) ?? null
  }

  #load(): void {
    const { services } = this.#parts.storage
    if (!this.#isLoaded) for (const { id } of services.list()) this.touch(id)
    this.#isLoaded = true
    if (this.#stale.size > 0) this.#byHost = null
    for (const id of this.#stale) {
      const row = services.get(id)
      if (row) this.#routes.set(id, this.#toRoute(row))
      else this.#routes.delete(id)
    }
    this.#stale.clear()
  }

  #toRoute(row: ServiceRow): ServiceRoute | null {
    const { storage, settings } = this.#parts
    if (!isPublicType(row.type)) return null
    const hosts = hostsOf(row, settings.baseDomain)
    const redirects = hosts.flatMap((host) => {
      const target = redirectOf(row, host, settings.baseDomain)
      return target === null ? [] : [[host, target] as const]
    })
    return {
      id: row.id,
      pool: storage.upstreams.poolOf(row.id) ?? 0,
      hosts,
      redirects: new Map(redirects),
      isSuspended: row.suspended,
      hsts: row.hsts,
      bodyLimitBytes: row.max_body_mb * 1024 * 1024,
      timeoutMs: row.request_timeout_seconds * 1000,
      upstreams: storage.upstreams.list(row.id),
    }
  }
}

export interface RouteSources {
  /** Key and certificate chain by host; only valid certificates. */
  certificates: ReadonlyMap<string, string>
  /** ACME responses by token. */
  challenges: ReadonlyMap<string, string>
  dashboardHost: string | null
}

/** Pure. A host with a certificate is redirected to https; the host of the server itself always is. */
export function toRoutes(
  services: ServiceRoute[],
  { certificates, challenges, dashboardHost }: RouteSources,
): Routes {
  const maps = noMaps()
  const claims = services.flatMap((route) => route.hosts.map((host, at) => ({ host, route, at })))
  // After a change of the base domain, two services may claim one host, which is then a default host.
  for (const { host, route } of claims.sort((a, b) => b.at - a.at)) {
    const target = route.redirects.get(host)
    if (target !== undefined) maps.redirects.set(host, target)
    else maps.redirects.delete(host)
    const pool = target === undefined ? poolName(route.pool) : 'redirected'
    maps.hosts.set(host, route.isSuspended ? 'suspended' : pool)
    maps.timeouts.set(host, String(route.timeoutMs))
    maps['body-limits'].set(host, String(route.bodyLimitBytes))
    const isCovered = certificates.has(host) || certificates.has(wildcardOf(host))
    if (isCovered) maps.https.set(host, '1')
    if (isCovered && route.hsts) maps.hsts.set(host, hstsHeader)
  }
  if (dashboardHost) {
    maps.hosts.set(dashboardHost, 'dashboard')
    maps.https.set(dashboardHost, '1')
    maps.hsts.set(dashboardHost, hstsHeader)
  }
  for (const [token, answer] of challenges) maps.challenges.set(token, answer)
  return {
    pools: toPools(services),
    maps,
    certificates: [...certificates].map(([host, pem]) => ({ host, pem })),
  }
}

function toPools(services: ServiceRoute[]): Pool[] {
  const most = services.reduce((highest, { pool }) => Math.max(highest, pool), 0)
  const pools = Array.from({ length: most }, (_, at): Pool => ({ name: poolName(at + 1), upstreams: [] }))
  for (const { pool, upstreams } of services) if (pool > 0) pools[pool - 1]!.upstreams = toSlots(upstreams)
  return pools
}

function toSlots(rows: UpstreamRow[]): (Upstream | null)[] {
  const most = rows.reduce((highest, { slot }) => Math.max(highest, slot), 0)
  const slots: (Upstream | null)[] = Array.from({ length: most }, () => null)
  for (const { slot, address, port, protocol, state } of rows) {
    const isHttp2 = protocol === 'h2c'
    slots[slot - 1] = { address, port, isHttp2, state: state === 'out' ? 'leaving' : state }
  }
  return slots
}
