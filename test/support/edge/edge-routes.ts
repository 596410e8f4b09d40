// Edge routes in the short form that tests use: pools by upstreams, hosts by pool.
import { noMaps, type Pool, poolName, type Routes, type Upstream } from '../../../src/edge/routes.ts'

export function upstream(port: number, state: Upstream['state'] = 'ready', isHttp2 = false): Upstream {
  return { address: '127.0.0.1', port, isHttp2, state }
}

/** `{ 'a.test': [upstream, …] }`: each host gets its own pool, in that order. */
export function routesTo(hosts: Record<string, (Upstream | null)[]>): Routes {
  const maps = noMaps()
  const pools = Object.entries(hosts).map(([host, upstreams], at): Pool => {
    maps.hosts.set(host, poolName(at + 1))
    return { name: poolName(at + 1), upstreams }
  })
  return { pools, maps, certificates: [] }
}
