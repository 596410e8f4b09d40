// Files in and out of instances and disks, as tar archives. A disk is reached through a container that never
// starts and has nothing else to write to, also while its service is stopped or deleted.
import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { withTimeout } from '../async/with-timeout.ts'
import {
  type ContainerPath,
  extractArchive,
  inspectPath,
  openArchive,
  type PathFacts,
} from '../docker/containers/container-files.ts'
import { diskFolder, withDisk } from '../docker/containers/disk-files.ts'
import { findOwn } from '../docker/containers/find-container.ts'
import type { Instances } from '../docker/containers/instances.ts'
import { conflict, Failure } from '../errors.ts'
import { type FreeDiskSettings, guardDockerDisk } from './disk/disk.ts'
import type { EnginePorts } from './engine/ports.ts'
import type { SharedPorts } from './ports.ts'
import { containerOf, type InstancePlace } from './shells.ts'

/** The path of a disk is relative to the disk. */
export type FilePlace = { path: string } & (InstancePlace | { kind: 'disk'; name: string })

/** All throw `path_not_found`, `conflict` if nothing runs there, `docker_error`, `docker_unavailable`. */
export interface Files {
  inspect(place: FilePlace): Promise<PathFacts>
  read(place: FilePlace): Promise<AsyncIterable<Uint8Array>>
  /** Extracts into a folder that exists. What was extracted before an error stays. */
  write(place: FilePlace, body: Readable, signal: AbortSignal): Promise<void>
}

interface Ports extends Pick<EnginePorts, 'engine' | 'engineReady' | 'owner'>, Pick<SharedPorts, 'storage'> {
  instances: Pick<Instances, 'inspect' | 'list'>
  settings: FreeDiskSettings
}

const diskPath = `/${diskFolder}`
const readyMs = 60_000

export function openFiles(ports: Ports): Files {
  const { engine } = ports
  return {
    inspect: (place) =>
      inPlace(ports, place, async (found) => {
        const { path, ...facts } = await inspectPath(engine, found)
        return { ...facts, path: found.within ? posix.join('/', posix.relative(found.within, path)) : path }
      }),
    read: (place) =>
      new Promise<Readable>((resolve, reject) => {
        inPlace(ports, place, async (found) => {
          const archive = await openArchive(engine, found)
          resolve(archive)
          // The container of a disk is removed after it.
          await finished(archive).catch(() => undefined)
        }).catch(reject)
      }),
    write: (place, body, outer) =>
      guardDockerDisk(ports, 'copying files', outer, (signal) =>
        inPlace(ports, place, (found) => extractArchive(engine, found, { body, signal })),
      ),
  }
}

async function inPlace<T>(
  ports: Ports,
  place: FilePlace,
  work: (found: ContainerPath) => Promise<T>,
): Promise<T> {
  if (place.kind === 'disk') return inDisk(ports, place, work)
  const found = await findOwn(ports, await containerOf(ports, place))
  if (found === null) throw conflict('the instance has ended', 'try again in a moment')
  return work({ container: found.container, path: place.path })
}

async function inDisk<T>(
  ports: Ports,
  { name, path }: { name: string; path: string },
  work: (found: ContainerPath) => Promise<T>,
): Promise<T> {
  // Before it is ready, a start removes containers that belong to no actor.
  await ports.engine.ping()
  const late = new Failure('docker_unavailable', 'Docker is not ready yet', 'try again in a moment')
  await withTimeout(readyMs, undefined, (signal) => ports.engineReady(signal), late)
  const use = { id: `files-${randomUUID()}`, disk: name }
  // Within the disk, whatever `..` is in the path.
  const inside = posix.join(diskPath, posix.normalize(`/${path}`))
  return withDisk(ports, use, { isRootReadOnly: true }, (container) =>
    work({ container, path: inside, within: diskPath }),
  )
}
