// Wires the edge: its files, its driver, and the ports to the rest of the daemon. The address of the API is
// known only once it listens; until then the edge is not started.
import { totalmem } from 'node:os'
import { type Config, parseListen } from '../config/config.ts'
import { edgeId } from '../domain/domains.ts'
import { Driver } from '../edge/driver.ts'
import { hasIpv6, loadOrCreateSecret, openEdgeFiles, ownHostOf } from '../edge/files.ts'
import type { BaseFrame } from '../edge/frame.ts'
import { workerUser } from '../edge/host-process.ts'
import { limitsFor } from '../edge/limits.ts'
import type { EdgeParts } from '../effects/edge/edge.ts'
import { type Edge, HaproxyEdge, noEdge } from '../effects/edge/haproxy-edge.ts'
import { socketOwner } from '../effects/edge/launcher.ts'
import type { EdgePorts } from '../effects/edge/ports.ts'
import type { AccessLog } from '../effects/logs/access-log.ts'

export interface OpenedEdge {
  edge: Edge
  /** Null with `--edge off`. */
  parts: EdgeParts | null
  /** Called when the API listens: the edge may start. */
  open(apiPort: number): void
  /** Proves the edge, so that its forwarding headers are trusted; null without an edge. */
  secret: string | null
}

const minPools = 128

/** The address at which a wildcard listener is reached from this host. */
function reachableName(name: string): string {
  const everywhere: Record<string, string> = {
    '0.0.0.0': '127.0.0.1',
    '[::]': '[::1]',
    localhost: '127.0.0.1',
  }
  return everywhere[name] ?? name
}

export function openEdge(
  config: Config,
  ports: Pick<EdgePorts, 'storage' | 'settings'>,
  options: { certificates: () => ReadonlyMap<string, string>; accessLog: AccessLog },
): OpenedEdge {
  if (config.edge === 'off') return { edge: noEdge(), parts: null, open: () => undefined, secret: null }
  const files = openEdgeFiles(ports.settings.dataDir)
  const secret = loadOrCreateSecret(files)
  const dashboardHost = config['dashboard-host'] || null
  const frame: BaseFrame = {
    httpPort: config['http-port'],
    httpsPort: config['https-port'],
    hasIpv6: hasIpv6(),
    socketOwner: config.edge === 'container' ? socketOwner() : null,
    worker: config.edge === 'host' ? workerUser() : null,
    trustedProxies: config['trusted-proxy'],
    dashboard: null,
    limits: limitsFor(totalmem(), {
      connectionsPerAddress: config['edge-connections-per-address'],
      requestsPerAddress: config['edge-requests-per-address'],
    }),
    ownHost: ownHostOf(secret),
    pools: minPools,
  }
  let open: (apiPort: number) => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = (apiPort) => {
      const address = `${reachableName(parseListen(config.listen).name)}:${apiPort}`
      frame.dashboard = dashboardHost ? { address, host: dashboardHost, secret } : null
      resolve()
    }
  })
  const routeSources = { dashboardHost }
  const unavailableReason = () => String(ports.storage.actors.record(edgeId)?.error ?? 'it does not respond')
  const driver = new Driver(files, frame)
  const edge = new HaproxyEdge({
    ...ports,
    files,
    driver,
    publicPorts: frame,
    routeSources,
    unavailableReason,
    ...options,
  })
  const { docker, edge: mode, 'edge-image': image } = config
  const parts = { files, rounds: edge, mode, image, docker, opened }
  return { edge, parts, open, secret }
}
