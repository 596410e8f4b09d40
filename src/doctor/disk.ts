// Free space and inodes where the server and the engine write.
import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { withSignal } from '../docker/engine/client.ts'
import { size } from '../quantities.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const mebibyte = 1024 * 1024

export async function checkDisk(examined: Examined, signal: AbortSignal): Promise<Finding[] | string> {
  const { config } = examined
  const directory = config['data-dir']
  const wanted = [
    directory,
    config['backup-dir'] || join(directory, 'backups'),
    await dockerRoot(examined, signal),
  ]
  const disks = new Map<number, string>()
  for (const path of wanted) {
    const device = path === null ? null : await stat(path).catch(() => null)
    // One file system is reported once, as the first directory that is on it.
    if (device !== null && !disks.has(device.dev)) disks.set(device.dev, path!)
  }
  const looks = await Promise.all(
    [...disks.values()].map((path) => look(path, config['min-free-disk'] * mebibyte)),
  )
  const found = looks.flatMap(({ found }) => found)
  return found.length > 0 ? found : looks.map(({ facts }) => facts).join('; ')
}

async function look(path: string, reserveBytes: number): Promise<{ found: Finding[]; facts: string }> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(path)
  const free = bavail * bsize
  const total = blocks * bsize
  const values = { path, free: size(free), total: size(total), reserve: size(reserveBytes) }
  // Some file systems, such as btrfs, have no fixed number of inodes.
  const inodes = files > 0 ? ffree / files : 1
  const counts = { path, free: ffree, total: files }
  return {
    found: [
      ...(free < reserveBytes ? [finding('disk_full', values)] : []),
      ...(free >= reserveBytes && (free < 3 * reserveBytes || free < total / 20)
        ? [finding('disk_low', values)]
        : []),
      ...(inodes < 0.05 ? [finding(inodes < 0.01 ? 'inodes_exhausted' : 'inodes_low', counts)] : []),
    ],
    facts: `${values.free} of ${values.total} free at ${path}`,
  }
}

/** Null for an engine that does not answer, or on another host. */
async function dockerRoot({ engine }: Examined, signal: AbortSignal): Promise<string | null> {
  if (!engine.host.startsWith('unix:')) return null
  const { call, docker } = engine
  const asking = call('info', (bound) => withSignal(docker, docker.info, bound), { timeoutMs: 5_000, signal })
  return asking.then(
    (info: { DockerRootDir?: string }) => info.DockerRootDir ?? null,
    () => null,
  )
}
