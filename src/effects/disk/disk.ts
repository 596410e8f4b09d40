// Checks the free disk before and during large fetches and builds.
import { statfs } from 'node:fs/promises'
import { Failure } from '../../errors.ts'
import type { EnginePorts } from '../engine/ports.ts'
import type { DiskWatch } from './disk-watch.ts'

const mebibyte = 1024 * 1024

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
  ports: { diskWatch: DiskWatch },
  { what, directory }: { what: string; directory: string },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return ports.diskWatch.guard({ what, directories: [directory] }, signal, work)
}

/** Like `guardDirectory`, for data that the engine writes. Throws `docker_unavailable`. */
export async function guardDockerDisk<T>(
  ports: Pick<EnginePorts, 'engine'> & { diskWatch: DiskWatch },
  what: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { rootDir } = await ports.engine.info()
  return ports.diskWatch.guard({ what, directories: rootDir === null ? [] : [rootDir] }, signal, work)
}
