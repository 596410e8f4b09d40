// A daemon with an edge on its own ports, and requests to its services.
import type { ContainerInfo } from 'dockerode'
import Docker from 'dockerode'
import { launchDaemon, type TestDaemon } from '../daemon/daemon.ts'
import { until } from '../daemon/service.ts'
import { ensureEngine } from '../docker/engine.ts'
import type { Scope } from '../system/directory.ts'
import { edgeArgs, endHostEdge, portOf } from './edge.ts'
import { type EdgeAnswer, requestAt } from './running-edge.ts'

export interface EdgeSite {
  /** The current daemon. */
  readonly daemon: TestDaemon
  /** Restarts the daemon with further options, which win. */
  startWith(...options: string[]): Promise<void>
  /** The prefix of everything it creates, across restarts. */
  prefix: string
  /** The options it was started with. */
  args: string[]
  /** The HTTP port. */
  port: number
  /** Sends a request for that host. */
  ask: ReturnType<typeof requestAt>
  /** The host name of a service. */
  placeOf(service: { name: string }): { port: number; host: string }
  page(service: { name: string }, path?: string): Promise<EdgeAnswer>
  /** Resolves when the service responds with that text. */
  untilAnswers(service: { name: string }, text: string): Promise<void>
  /** Docker's containers of a service, running or not. */
  containersOf(service: { id: string }): Promise<ServiceContainer[]>
  /** Resolves when the deploy has no instances left. */
  untilDeactivated(deployId: string): Promise<void>
}

interface ServiceContainer {
  id: string
  deployId: string
  state: string
}

/** Removed at the end of the scope, with the edge. */
export async function openEdgeSite(
  scope: Scope,
  kind: 'container' | 'host' = 'container',
  more: string[] = [],
): Promise<EdgeSite> {
  const args = [...(await edgeArgs(kind)), ...more]
  const first = await launchDaemon({ args })
  const { dataDir, prefix } = first
  let daemon = first
  scope.after(async () => {
    await daemon.kill()
    endHostEdge(dataDir)
    await first.remove()
  })
  const port = portOf(args, '--http-port')
  const ask = requestAt(port)
  const placeOf = ({ name }: { name: string }) => ({ port, host: `${name}.localhost` })
  const page = (service: { name: string }, path?: string) => ask(placeOf(service).host, path)
  const docker = await openDocker()
  return {
    get daemon() {
      return daemon
    },
    async startWith(...options) {
      await daemon.stop()
      daemon = await launchDaemon({ dataDir, args: [...args, '--prefix', prefix, ...options] })
    },
    prefix,
    args,
    port,
    ask,
    placeOf,
    page,
    async containersOf({ id }) {
      const filters = { label: [`berth.service-id=${id}`] }
      const containers = await docker.listContainers({ all: true, filters })
      return containers.map(toRunningContainer)
    },
    async untilAnswers(service, text) {
      await until(`${service.name} to answer ${text}`, async () => (await page(service)).body === text)
    },
    async untilDeactivated(id) {
      // The status is also reported during the drain.
      const states = () => daemon.api.get(`/deploys/${id}/history`)
      await until(`${id} to be deactivated`, async () => (await states()).at(-1)?.state === 'deactivated')
    },
  }
}

export async function openDocker(): Promise<Docker> {
  return new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
}

function toRunningContainer({ Id: id, State: state, Labels }: ContainerInfo) {
  return { id, state, deployId: Labels['berth.id']! }
}
