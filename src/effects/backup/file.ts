// A backup file on disk. It is written under a draft name and renamed once it has been verified. A missing
// backup directory is not created: it may be a mount point whose volume is not mounted.
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BackupFileRef, backupPath } from '../../domain/backup-files.ts'
import { Failure, messageOf } from '../../errors.ts'
import { checkFreeDisk } from '../disk/disk.ts'
import type { BackupSettings, TransferPorts } from './ports.ts'

const openAttempts = 5

const draftOf = (path: string) => `${path}.part`

export interface Draft {
  write(piece: Uint8Array): Promise<void>
  sizeBytes(): number
  close(): Promise<void>
}

/** Starts an empty draft and discards an earlier one. Throws `insufficient_storage` and `backup_failed`. */
export async function createDraft(settings: BackupSettings, place: BackupFileRef): Promise<Draft> {
  const path = backupPath(settings.backupDir, place)
  const file = await openDraft(settings, path)
  let sizeBytes = 0
  return {
    async write(piece) {
      sizeBytes += piece.length
      await file.writeFile(piece).catch(throwUnwritable)
    },
    sizeBytes: () => sizeBytes,
    async close() {
      try {
        await file.sync().catch(throwUnwritable)
      } finally {
        await file.close()
      }
    },
  }
}

/** Retries, because the folder is removed with its last backup, possibly at this moment. */
async function openDraft(settings: BackupSettings, path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    await makeFolder(settings, dirname(path))
    try {
      await checkFreeDisk(settings, 'a backup', settings.backupDir)
      return await open(draftOf(path), 'w', 0o600)
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isGone || attempt === openAttempts) throwUnwritable(error)
    }
  }
}

/** The draft, or the verified file: a check that was interrupted is repeated. */
export async function findFile(settings: BackupSettings, place: BackupFileRef): Promise<string> {
  const path = backupPath(settings.backupDir, place)
  for (const candidate of [draftOf(path), path]) {
    if (await stat(candidate).catch(() => null)) return candidate
  }
  throw new Failure('backup_failed', `${path} is gone`)
}

/** Renames the verified draft. After a crash in between, the file already has its final name. */
export async function publishDraft(settings: BackupSettings, place: BackupFileRef): Promise<void> {
  const path = backupPath(settings.backupDir, place)
  const found = await findFile(settings, place)
  if (found !== path) await rename(found, path).catch(throwUnwritable)
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes the draft and the file, and the folder if it is then empty. */
export async function removeFile(settings: BackupSettings, place: BackupFileRef): Promise<void> {
  const path = backupPath(settings.backupDir, place)
  for (const name of [draftOf(path), path]) await rm(name, { force: true })
  await rmdir(dirname(path)).catch(() => undefined)
}

/** Reports the progress of the actor that reads it. */
export async function* readFile(
  { progress }: TransferPorts,
  { id, path, sizeBytes }: { id: string; path: string; sizeBytes: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let doneBytes = 0
  const file: AsyncIterable<Buffer> = createReadStream(path)
  try {
    for await (const piece of file) {
      signal.throwIfAborted()
      doneBytes += piece.length
      progress.set(id, { doneBytes, totalBytes: sizeBytes })
      yield piece
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new Failure('backup_failed', `it cannot be read: ${messageOf(error)}`)
  }
}

async function makeFolder({ backupDir, dataDir }: BackupSettings, folder: string): Promise<void> {
  try {
    if (backupDir === join(dataDir, 'backups')) await mkdir(backupDir, { recursive: true, mode: 0o700 })
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code === 'ENOENT') {
      throw new Failure('backup_failed', `${backupDir} does not exist: is it mounted? (--backup-dir)`)
    }
    throwUnwritable(error)
  }
}

function throwUnwritable(error: unknown): never {
  if (error instanceof Failure) throw error
  throw new Failure('backup_failed', `it cannot be written: ${messageOf(error)}`)
}
