// The check of the free disk before anything big is fetched or built, and while it is.
import { statfs } from 'node:fs/promises'
import { Failure } from '../../errors.ts'
import type { Host, HostSettings } from '../host.ts'

const mebibyte = 1024 * 1024

/** Throws `insufficient_storage`, naming path, free space, threshold and option. */
export async function checkFreeDisk(
  { dataDir, minFreeDiskMb }: HostSettings,
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

/** What may still be written to the data directory before the threshold; less than 0 when it is passed. */
export async function roomBytes({ dataDir, minFreeDiskMb }: HostSettings): Promise<number> {
  return (await freeBytes(dataDir)) - minFreeDiskMb * mebibyte
}

export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** Ends the work with `insufficient_storage` when that directory has too little space left. */
export function whileRoomIn<T>(
  host: Pick<Host, 'diskWatch'>,
  { what, directory }: { what: string; directory: string },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return host.diskWatch.guard({ what, directories: [directory] }, signal, work)
}

/** The same for what the engine writes. Throws `docker_unavailable`. */
export async function whileRoomInDocker<T>(
  host: Pick<Host, 'diskWatch' | 'engine'>,
  what: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { rootDir } = await host.engine.info()
  return host.diskWatch.guard({ what, directories: rootDir === null ? [] : [rootDir] }, signal, work)
}
