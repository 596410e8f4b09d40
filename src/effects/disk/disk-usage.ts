// How much of the disk is used, and by what. Counting can take minutes on a large host: a query with
// outdated figures starts it in the background and does not wait for it.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine } from '../../docker/engine/client.ts'
import { type DockerUsage, dockerUsage } from '../../docker/engine/disk-usage.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'

/** As in the API. */
export interface DiskUsage {
  at: string
  data: DataUsage
  /** Usage of the whole engine; null while it does not respond. */
  docker: DockerUsage | null
}

export interface DataUsage {
  store_bytes: number
  logs_bytes: number
  backups_bytes: number
  uploads_bytes: number
  checkouts_bytes: number
}

interface Parts {
  engine: Engine
  settings: DataSettings
  logger: Logger
}

interface DataSettings {
  dataDir: string
  backupDir: string
}

const freshMs = 5 * 60_000

/** Returns the last figures immediately; null before the first count. */
export function createDiskUsage(ports: Parts): () => DiskUsage | null {
  let lastUsage: DiskUsage | null = null
  let isCounting = false

  async function count(): Promise<void> {
    isCounting = true
    try {
      const docker = await dockerUsage(ports.engine).catch(() => null)
      lastUsage = { at: new Date().toISOString(), data: await dataUsage(ports.settings), docker }
    } catch (error) {
      ports.logger.warn({ reason: messageOf(error) }, 'the disk usage cannot be counted')
    } finally {
      isCounting = false
    }
  }

  return () => {
    const isOld = lastUsage === null || Date.now() - Date.parse(lastUsage.at) > freshMs
    if (isOld && !isCounting) void count()
    return lastUsage
  }
}

async function dataUsage({ dataDir, backupDir }: Parts['settings']): Promise<DataUsage> {
  const sizeOf = async (...names: string[]) => {
    let bytes = 0
    for (const name of names) bytes += await directoryBytes(join(dataDir, name))
    return bytes
  }
  return {
    store_bytes: await sizeOf('store'),
    logs_bytes: await sizeOf('logs', 'runtime-logs', 'access-logs'),
    backups_bytes: await directoryBytes(backupDir),
    uploads_bytes: await sizeOf('archives', 'restores'),
    checkouts_bytes: await sizeOf('work'),
  }
}

/** Counts blocks instead of lengths, as `du` does. Files that disappear during the scan are not counted. */
async function directoryBytes(path: string): Promise<number> {
  const stats = await stat(path).catch(() => null)
  if (stats === null) return 0
  let bytes = stats.blocks * 512
  if (!stats.isDirectory()) return bytes
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory() || entry.isFile()) bytes += await directoryBytes(join(path, entry.name))
  }
  return bytes
}
