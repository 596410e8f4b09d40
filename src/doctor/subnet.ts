// Whether a Docker network has the addresses of a network that the host reaches otherwise.
import { readFile } from 'node:fs/promises'
import { formatSubnet, overlaps, parseRoutes, parseSubnet } from '../docker/network/networks.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

interface Route {
  device: string
  subnet: NonNullable<ReturnType<typeof parseSubnet>>
}

export async function checkSubnet(
  { config, engine }: Examined,
  signal: AbortSignal,
): Promise<Finding[] | string> {
  const { call, docker } = engine
  const listing = call('list networks', (abortSignal) => docker.listNetworks({ abortSignal }), {
    timeoutMs: 5_000,
    signal,
  })
  const networks = await listing.catch(() => [])
  const routes = routesIn(await readFile('/proc/net/route', 'latin1').catch(() => ''))
  const found = networks.flatMap(({ Name: name, Id, Options, IPAM }) => {
    const bridge = Options?.['com.docker.network.bridge.name'] ?? `br-${Id.slice(0, 12)}`
    const subnets = (IPAM?.Config ?? []).flatMap(({ Subnet }) => parseSubnet(Subnet ?? '') ?? [])
    const crossing = routes.find(({ device, subnet }) => {
      return device !== bridge && subnets.some((own) => overlaps(own, subnet))
    })
    if (!crossing) return []
    const values = { name, subnet: subnets.map(formatSubnet).join(', '), device: crossing.device }
    const other = formatSubnet(crossing.subnet)
    return [
      finding(name === config.prefix ? 'subnet_collides' : 'docker_subnet_collides', { ...values, other }),
    ]
  })
  const own = networks.find(({ Name }) => Name === config.prefix)?.IPAM?.Config?.[0]?.Subnet
  return found.length > 0 ? found : `${own ?? config.subnet} collides with no route of the host`
}

function routesIn(table: string): Route[] {
  const [head = '', ...rows] = table.trim().split('\n')
  return rows.flatMap((row) =>
    parseRoutes(`${head}\n${row}`).map((subnet) => ({ device: row.split(/\s+/)[0]!, subnet })),
  )
}
