// Checks the free disk before and during large fetches and builds.
import { statfs } from 'node:fs/promises'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import type { EnginePorts } from '../engine/ports.ts'

const mebibyte = 1024 * 1024
const checkIntervalMs = 1000

export interface FreeDiskSettings {
  dataDir: string
  minFreeDiskMb: number
}

/** Throws `insufficient_storage`, naming path, free space, threshold and option. */
export async function checkFreeDisk(
  { dataDir, minFreeDiskMb }: FreeDiskSettings,
  what = 'a deploy',
  directory = dataDir,
): Promise<void> {
  const freeMb = Math.floor((await freeBytes(directory)) / mebibyte)
  if (freeMb >= minFreeDiskMb) return
  throw new Failure(
    'insufficient_storage',
    `${directory} has ${freeMb} MiB free, ${what} needs ${minFreeDiskMb} MiB (--min-free-disk)`,
  )
}

/** Bytes that may still be written to the data directory before the threshold; negative below it. */
export async function availableBytes({ dataDir, minFreeDiskMb }: FreeDiskSettings): Promise<number> {
  return (await freeBytes(dataDir)) - minFreeDiskMb * mebibyte
}

export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Ends the work with `insufficient_storage` when that directory has too little space left. */
export function guardDirectory<T>(
  { settings }: { settings: FreeDiskSettings },
  { what, directory }: { what: string; directory: string },
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (settings.minFreeDiskMb === 0) return work(outer)
  const watch = (end: (reason: unknown) => void) => {
    const look = async () => {
      try {
        await checkFreeDisk(settings, what, directory)
      } catch (error) {
        // A directory of the engine may be on another host.
        if (codeOf(error) === 'insufficient_storage')
          return end(new Failure('insufficient_storage', `canceled: ${messageOf(error)}`))
      }
      timer.refresh()
    }
    // The next check starts after the last one has ended: a file system may be slow.
    const timer = setTimeout(look, checkIntervalMs).unref()
    return () => clearTimeout(timer)
  }
  return withLinkedSignal(outer, watch, work)
}

/** Like `guardDirectory`, for data that the engine writes. Throws `docker_unavailable`. */
export async function guardDockerDisk<T>(
  ports: Pick<EnginePorts, 'engine'> & { settings: FreeDiskSettings },
  what: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { rootDir } = await ports.engine.info()
  return rootDir === null ? work(signal) : guardDirectory(ports, { what, directory: rootDir }, signal, work)
}
