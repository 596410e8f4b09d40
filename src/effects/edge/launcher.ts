// Starts and removes the HAProxy of one generation: as a container, or as a process of the host.
import {
  edgeImageOf,
  edgeOutput,
  edgeRestarts,
  ensureEdgeContainer,
  keepEdgeEnded,
  listEdgeContainers,
  removeEdgeContainer,
  requireLocalEngine,
} from '../../docker/containers/edge-container.ts'
import type { EdgeFiles } from '../../edge/files.ts'
import { environmentOf, listGenerations, removeFiles } from '../../edge/generations.ts'
import { alertsIn, openHostProcess, servesWithin } from '../../edge/host-process.ts'
import { Failure } from '../../errors.ts'
import type { EdgePorts } from './ports.ts'

export interface Launcher {
  /**
   * Resolves when it serves. It takes the listening sockets of `former`. One that failed is removed again.
   * Throws `edge_unavailable` with the reason.
   */
  start(place: EdgeFiles, former: EdgeFiles | null, image: string | null, signal: AbortSignal): Promise<void>
  /** Keeps a boot from starting it. */
  keepEnded(place: EdgeFiles): Promise<void>
  /** Ends it and removes its files. A missing one is fine. */
  remove(place: EdgeFiles): Promise<void>
  /** The image that it runs from; null for a process of the host. */
  imageOf(place: EdgeFiles): Promise<{ name: string; id: string } | null>
}

export interface LauncherParts {
  ports: EdgePorts
  docker: string
  /** The image of a first start. */
  image: (signal: AbortSignal) => Promise<string>
}

const startMs = 20_000
/** If a port is in use, HAProxy exits at once. A single restart may have another cause. */
const mostRestarts = 2

export const hostLauncher: Launcher = {
  async start(place, former, _image, signal) {
    try {
      await openHostProcess(place).ensure(signal, former)
    } catch (error) {
      if (former) await hostLauncher.remove(place)
      throw error
    }
  },
  keepEnded: async () => undefined,
  async remove(place) {
    await openHostProcess(place).stop()
    removeFiles(place)
  },
  imageOf: async () => null,
}

export function containerLauncher({ ports, docker, image }: LauncherParts): Launcher {
  const { engine, owner } = ports
  return {
    async start(place, former, wanted, signal) {
      requireLocalEngine(docker)
      await ports.engineReady(signal)
      const { generation } = place
      const spec = {
        image: wanted ?? (await image(signal)),
        generation,
        directory: place.directory,
        environment: environmentOf(place),
        arguments: [
          '-W',
          '-S',
          `${place.masterSocket},mode,600${ownerText()}`,
          ...(former ? ['-x', former.adminSocket] : []),
          '-f',
          place.configuration,
        ],
        isForeignUser: process.getuid?.() !== 0,
      }
      const remove = () => removeEdgeContainer(engine, owner, generation)
      try {
        const end = await ensureEdgeContainer(engine, owner, spec, signal)
        if (end) ports.logger.error(end, 'the container of the edge had ended and was recreated')
        await requireServing(ports, place, signal)
      } catch (error) {
        // A hanging container would count as running. After an abort the next start checks it.
        if (!signal.aborted) await remove().then(() => former && removeFiles(place))
        throw error
      }
    },
    keepEnded: ({ generation }) => keepEdgeEnded(engine, owner, generation),
    async remove(place) {
      await removeEdgeContainer(engine, owner, place.generation)
      removeFiles(place)
    },
    imageOf: ({ generation }) => edgeImageOf(engine, owner, generation),
  }
}

async function requireServing(ports: EdgePorts, place: EdgeFiles, signal: AbortSignal): Promise<void> {
  const { engine, owner } = ports
  // The container may have restarted earlier. Treat an unreadable state as healthy.
  const restarts = () => edgeRestarts(engine, owner, place.generation)
  const before = await restarts()
  const isFailing = async () => (await restarts().catch(() => before)) - before >= mostRestarts
  if (await servesWithin(place, startMs, signal, isFailing)) return
  const output = await edgeOutput(engine, owner, place.generation).catch(() => '')
  throw new Failure('edge_unavailable', `HAProxy does not start: ${alertsIn(output) || 'no reason given'}`)
}

/** All containers of the edge, of whichever generation. */
export async function removeEdgeContainers(ports: EdgePorts): Promise<void> {
  const { engine, owner } = ports
  for (const generation of await listEdgeContainers(engine, owner)) {
    await removeEdgeContainer(engine, owner, generation)
  }
}

/** Stops all processes on the host that belong to this server's edge. */
export async function stopHostProcesses(place: EdgeFiles): Promise<void> {
  for (const one of listGenerations(place)) await openHostProcess(one).stop()
}

/** Sockets that root created in the container are given to the user of the daemon. */
export function socketOwner(): { uid: number; gid: number } | null {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return uid === 0 ? null : { uid, gid }
}

function ownerText(): string {
  const owner = socketOwner()
  return owner ? `,uid,${owner.uid},gid,${owner.gid}` : ''
}
