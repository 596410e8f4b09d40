// Starts and removes the HAProxy of one generation: as a container, or as a process of the host.
import {
  edgeOutput,
  edgeRestarts,
  ensureEdgeContainer,
  keepEdgeEnded,
  listEdgeContainers,
  removeEdgeContainer,
  requireLocalEngine,
  resolveEdgeImage,
} from '../../docker/containers/edge-container.ts'
import type { EdgeFiles } from '../../edge/files.ts'
import { environmentOf, listGenerations, removeFiles } from '../../edge/generations.ts'
import { alertsIn, openHostProcess, servesWithin } from '../../edge/host-process.ts'
import { Failure } from '../../errors.ts'
import type { EdgePorts } from './ports.ts'

export interface Launcher {
  /** Inherits the listening sockets of `former`. Removed if it fails. Throws `edge_unavailable`. */
  start(files: EdgeFiles, former: EdgeFiles | null, image: string | null, signal: AbortSignal): Promise<void>
  /** Prevents a start at boot. */
  disableRestart(files: EdgeFiles): Promise<void>
  /** Stops the generation and removes its files. A missing one is fine. */
  remove(files: EdgeFiles): Promise<void>
  /** The image that the generation runs; null for a host process. */
  imageOf(files: EdgeFiles): Promise<{ name: string; id: string } | null>
}

export interface LauncherParts {
  ports: EdgePorts
  docker: string
  image: (signal: AbortSignal) => Promise<string>
}

const startTimeoutMs = 20_000
/** If a port is in use, HAProxy exits immediately. A single restart may have another cause. */
const maxRestarts = 2

export const hostLauncher: Launcher = {
  async start(files, previous, _image, signal) {
    try {
      await openHostProcess(files).ensure(signal, previous)
    } catch (error) {
      if (previous) await hostLauncher.remove(files)
      throw error
    }
  },
  disableRestart: async () => undefined,
  async remove(files) {
    await openHostProcess(files).stop()
    removeFiles(files)
  },
  imageOf: async () => null,
}

export function containerLauncher({ ports, docker, image }: LauncherParts): Launcher {
  const { engine, owner } = ports
  return {
    async start(files, previous, wanted, signal) {
      requireLocalEngine(docker)
      await ports.engineReady(signal)
      const { generation } = files
      const spec = {
        image: wanted ?? (await image(signal)),
        generation,
        directory: files.directory,
        environment: environmentOf(files),
        arguments: [
          '-W',
          '-S',
          `${files.masterSocket},mode,600${socketOwnerOption()}`,
          ...(previous ? ['-x', previous.adminSocket] : []),
          '-f',
          files.configuration,
        ],
        isForeignUser: process.getuid?.() !== 0,
      }
      const remove = () => removeEdgeContainer(engine, owner, generation)
      try {
        const end = await ensureEdgeContainer(engine, owner, spec, signal)
        if (end) ports.logger.error(end, 'the edge container had ended and was started again')
        await waitUntilServing(ports, files, signal)
      } catch (error) {
        // A hanging container would count as running. After an abort the next start checks it.
        if (!signal.aborted) await remove().then(() => previous && removeFiles(files))
        throw error
      }
    },
    disableRestart: ({ generation }) => keepEdgeEnded(engine, owner, generation),
    async remove(files) {
      await removeEdgeContainer(engine, owner, files.generation)
      removeFiles(files)
    },
    imageOf: ({ generation }) => resolveEdgeImage(engine, owner, generation),
  }
}

async function waitUntilServing(ports: EdgePorts, files: EdgeFiles, signal: AbortSignal): Promise<void> {
  const { engine, owner } = ports
  // The container may have restarted earlier. Treat an unreadable state as healthy.
  const restarts = () => edgeRestarts(engine, owner, files.generation)
  const before = await restarts()
  const isFailing = async () => (await restarts().catch(() => before)) - before >= maxRestarts
  if (await servesWithin(files, startTimeoutMs, signal, isFailing)) return
  const output = await edgeOutput(engine, owner, files.generation).catch(() => '')
  throw new Failure(
    'edge_unavailable',
    `HAProxy does not start: ${alertsIn(output) || 'no reason available'}`,
  )
}

export async function removeEdgeContainers(ports: EdgePorts): Promise<void> {
  const { engine, owner } = ports
  for (const generation of await listEdgeContainers(engine, owner)) {
    await removeEdgeContainer(engine, owner, generation)
  }
}

export async function stopHostProcesses(files: EdgeFiles): Promise<void> {
  for (const one of listGenerations(files)) await openHostProcess(one).stop()
}

/** The owner of sockets that root creates in the container: the user of the daemon. */
export function socketOwner(): { uid: number; gid: number } | null {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return uid === 0 ? null : { uid, gid }
}

function socketOwnerOption(): string {
  const owner = socketOwner()
  return owner ? `,uid,${owner.uid},gid,${owner.gid}` : ''
}
