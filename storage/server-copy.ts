// A copy of a data directory that a later start finds complete, taken while a daemon may write to it. Files
// are hard links: they take no room and no time, and a deleted file stays in the copy.
import { type Dirent, existsSync } from 'node:fs'
import { copyFile, link, lstat, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { settleWithin } from '../src/async/settle-within.ts'
import { StorageError } from './store/errors.ts'
import { currentSchema, storedSchemaOf } from './store/migrations.ts'
import { openRedundantValue } from './store/redundant-value.ts'
import { openStore, type Store } from './store/store.ts'

/** What the store refers to. The rest is rebuilt at a start (`edge`, `work`) or belongs to one process. */
export const serverFiles = ['api_token', 'backup_recipient', 'secret_key', 'setup_code']
export const serverFolders = [
  'access-logs',
  'archives',
  'backups',
  'certificates',
  'logs',
  'restores',
  'runtime-logs',
]

export interface CopiedPart {
  name: string
  /** RFC 3339: when its last file was added. */
  copied_at: string
  files: number
  size_bytes: number
}

export interface ServerCopy {
  serverId: string
  schema: number
  parts: CopiedPart[]
}

const passMs = 200

/**
 * Fills the folder, which must be in the same file system as the data directory. The links are made before
 * the store is copied and again until after it: the copied store refers to no file that is missing. Throws
 * `not_found` for a folder that is not a data directory, and `store_too_new`.
 */
export async function copyServer(directory: string, folder: string): Promise<ServerCopy> {
  const store = openExistingStore(directory)
  try {
    const { serverId, schema } = identityOf(store)
    const linkAll = async () => {
      for (const name of [...serverFiles, ...serverFolders]) {
        await linkTree(join(directory, name), join(folder, name))
      }
    }
    await linkAll()
    const pending = Symbol()
    const copying = store.copyTo(join(folder, 'store'))
    // Handled here too: a failed link must not leave the rejection of the copy without a handler.
    copying.catch(() => undefined)
    while ((await settleWithin(copying, passMs, pending)) === pending) await linkAll()
    const storeCopiedAt = new Date().toISOString()
    await linkAll()
    const copiedAt = new Date().toISOString()
    const parts: CopiedPart[] = []
    for (const name of ['store', ...serverFiles, ...serverFolders]) {
      const path = join(folder, name)
      if (!existsSync(path)) continue
      const files = await filesBelow(path)
      const size_bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      parts.push({
        name,
        copied_at: name === 'store' ? storeCopiedAt : copiedAt,
        files: files.length,
        size_bytes,
      })
    }
    return { serverId, schema, parts }
  } finally {
    await store.close()
  }
}

/** The schema of the store in a restored folder. Throws `store_unusable` for one that cannot be opened. */
export async function readCopy(directory: string): Promise<{ serverId: string; schema: number }> {
  const store = openExistingStore(directory)
  try {
    return identityOf(store)
  } finally {
    await store.close()
  }
}

/** All files at or below a path, sorted. */
export async function filesBelow(path: string): Promise<{ path: string; sizeBytes: number }[]> {
  const stats = await lstat(path)
  if (stats.isFile()) return [{ path, sizeBytes: stats.size }]
  if (!stats.isDirectory()) return []
  const found = []
  for (const name of (await readdir(path)).sort()) found.push(...(await filesBelow(join(path, name))))
  return found
}

function openExistingStore(directory: string): Store {
  if (!existsSync(join(directory, 'store', 'data.mdb'))) {
    throw new StorageError('not_found', `${directory} is not the data directory of a Berth server`)
  }
  return openStore(directory, {
    onPanic(reason) {
      throw new StorageError('store_unusable', reason)
    },
  })
}

function identityOf(store: Store): { serverId: string; schema: number } {
  const schema = storedSchemaOf(store)
  const serverId = openRedundantValue<string>(store, 'server', 'id').get()
  if (schema === null || serverId === null) {
    throw new StorageError('not_found', 'the store is empty: no server has started with it yet')
  }
  if (schema <= currentSchema) return { serverId, schema }
  throw new StorageError(
    'store_too_new',
    `the store has schema ${schema}, this version of Berth knows up to ${currentSchema}`,
  )
}

/** Drafts are left out. What is deleted during the scan is left out unless an earlier pass linked it. */
async function linkTree(source: string, target: string): Promise<void> {
  const stats = await lstat(source).catch(nullIfMissing)
  if (stats?.isFile()) return linkFile(source, target)
  if (!stats?.isDirectory()) return
  await mkdir(target, { mode: 0o700, recursive: true })
  const entries = await readdir(source, { withFileTypes: true }).catch(nullIfMissing)
  for (const entry of entries ?? []) {
    if (isDraft(entry)) continue
    await linkTree(join(source, entry.name), join(target, entry.name))
  }
}

const isDraft = (entry: Dirent) => entry.isFile() && /\.(part|new)$/.test(entry.name)

/** A file that was replaced since the last pass, as a renewed certificate, is linked again. */
async function linkFile(source: string, target: string): Promise<void> {
  try {
    await link(source, target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    if (code === 'EEXIST') return relinkFile(source, target)
    // A folder that is a mount point, as for backups on another disk, or a file system without links.
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EMLINK') throw error
    await copyFile(source, target)
  }
}

async function relinkFile(source: string, target: string): Promise<void> {
  const [now, before] = await Promise.all([stat(source).catch(nullIfMissing), stat(target)])
  if (now === null || now.ino === before.ino) return
  if (now.dev !== before.dev && now.size === before.size) return
  await rm(target)
  await linkFile(source, target)
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
