// Makes a data directory from a backup. It grows in a draft folder next to the target and gets its name at
// the end, so the target is empty or complete. The restored server is held until it is activated.
import { execFile } from 'node:child_process'
import { chown, mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { holdDirectory } from '../../storage/hold.ts'
import { filesBelow, readCopy } from '../../storage/server-copy.ts'
import { lockDirectory } from '../../storage/store/lock.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { decrypt, type Unlock } from './age-file.ts'
import { unpackFolder } from './archive.ts'
import { recordCommand } from './command-audit.ts'
import { type Manifest, tooNew } from './manifest.ts'

/**
 * Throws `data_directory_in_use`, `data_directory_not_empty`, and what `decrypt` and `unpackFolder` throw.
 * After an error or a kill the target is as it was.
 */
export async function restoreServer(
  source: AsyncIterable<Uint8Array>,
  { dataDir, unlock, minFreeDiskMb = 0 }: { dataDir: string; unlock: Unlock; minFreeDiskMb?: number },
): Promise<Manifest> {
  const owner = await requireEmpty(dataDir)
  const draft = `${dataDir}.restoring`
  await mkdir(draft, { recursive: true, mode: 0o700 })
  const lock = lockDirectory(draft)
  try {
    for (const name of await readdir(draft)) {
      if (name !== 'lock') await rm(join(draft, name), { recursive: true })
    }
    const { bavail, bsize } = await statfs(draft)
    const maxBytes = bavail * bsize - minFreeDiskMb * 1024 ** 2
    const manifest = await unpackFolder(decrypt(source, unlock), draft, maxBytes)
    await requireUsable(draft, manifest)
    await recordCommand(draft, 'server.restore')
    holdDirectory(draft, { restored_at: new Date().toISOString(), backup_at: manifest.created_at })
    if (owner !== null) await giveTo(draft, owner)
    // One call instead of one for each of many small files.
    await promisify(execFile)('sync', ['--file-system', draft])
    await publish(draft, dataDir)
    return manifest
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  } finally {
    lock.release()
  }
}

interface Owner {
  uid: number
  gid: number
}

/** The owner of an existing empty folder, as a service manager makes it for a user without rights. */
async function requireEmpty(dataDir: string): Promise<Owner | null> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Failure('data_directory_unusable', `${dataDir} cannot be the data directory: ${error.message}`)
  })
  if (names === null) return null
  if (names.includes('lock')) lockDirectory(dataDir).release()
  if (names.length > 0) {
    const hint = 'choose another --data-dir, or move this one away'
    throw new Failure('data_directory_not_empty', `${dataDir} is not empty: nothing was changed`, hint)
  }
  const { uid, gid } = await stat(dataDir)
  return { uid, gid }
}

async function requireUsable(draft: string, manifest: Manifest): Promise<void> {
  try {
    await readCopy(draft)
  } catch (error) {
    if (codeOf(error) === 'store_too_new') throw tooNew(manifest.berth_version)
    throw new Failure('backup_invalid', `the store in the backup cannot be opened: ${messageOf(error)}`)
  }
}

async function giveTo(draft: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0 || uid === 0) return
  const files = await filesBelow(draft)
  const folders = new Set([draft, ...files.flatMap(({ path }) => parentsBelow(draft, path))])
  for (const path of [...folders, ...files.map(({ path }) => path)]) await chown(path, uid, gid)
}

function parentsBelow(top: string, path: string): string[] {
  const parent = dirname(path)
  return parent === top ? [] : [parent, ...parentsBelow(top, parent)]
}

async function publish(draft: string, dataDir: string): Promise<void> {
  try {
    // The kernel replaces an empty folder only.
    await rename(draft, dataDir)
  } catch (error) {
    const hint = 'restore into another folder with --data-dir, and move its content'
    throw new Failure('data_directory_unusable', `${dataDir} cannot be replaced: ${messageOf(error)}`, hint)
  }
}
