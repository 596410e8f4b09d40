// Makes a backup of a server: a copy of hard links in the data directory, then one encrypted stream of it.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { copyServer } from '../../storage/server-copy.ts'
import { version } from '../version.ts'
import { encrypt, type Lock } from './age-file.ts'
import { packFolder } from './archive.ts'
import { backupFormat, type Manifest } from './manifest.ts'

export interface OpenBackup {
  manifest: Manifest
  bytes: AsyncIterable<Uint8Array>
}

/** Copies are made in the data directory, because hard links cannot leave its file system. */
const copiesFolder = 'backup-work'

/** `use` reads the bytes once, to their end. The copy is removed afterwards. */
export async function withBackup<T>(
  { dataDir, prefix, lock, data }: { dataDir: string; prefix: string; lock: Lock; data?: unknown },
  use: (backup: OpenBackup) => Promise<T>,
): Promise<T> {
  const folder = await createCopyFolder(dataDir)
  try {
    const { serverId, schema, parts } = await copyServer(dataDir, folder)
    const manifest: Manifest = {
      format: backupFormat,
      berth_version: version,
      store_schema: schema,
      server_id: serverId,
      prefix,
      created_at: parts.find(({ name }) => name === 'store')!.copied_at,
      parts,
      ...(data !== undefined && { data }),
    }
    return await use({ manifest, bytes: await encrypt(toStream(packFolder(folder, manifest)), lock) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Also removes the copies of processes that were killed: their names have the process id. */
async function createCopyFolder(dataDir: string): Promise<string> {
  const parent = join(dataDir, copiesFolder)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  for (const name of await readdir(parent)) {
    if (!isRunning(Number.parseInt(name, 10))) await rm(join(parent, name), { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${process.pid}-`))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function toStream(source: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await source.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await source.return(undefined)),
  })
}
