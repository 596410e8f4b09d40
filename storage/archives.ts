// Uploaded files: source archives (`<deploy>.tar.gz`) and data to restore. Each file is complete or absent.
// A draft has no deploy id yet: an id created before a long upload would sort before deploys that were
// requested during the upload.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface ArchiveDraft {
  /** Appends. One call at a time. */
  write(pieces: Uint8Array[]): Promise<void>
  /** Makes the draft the archive of that deploy. It is on disk when this resolves. */
  commit(deployId: string): Promise<void>
  /** Removes the draft. No effect after `commit`. */
  discard(): Promise<void>
}

const draftSuffix = '.part'

/** Opens or creates the directory. Removes drafts, and archives of deploys that were never committed. */
export function openArchives(
  directory: string,
  isCommitted: (deployId: string) => boolean,
  suffix = '.tar.gz',
) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const isWanted = (name: string) => name.endsWith(suffix) && isCommitted(name.slice(0, -suffix.length))
  for (const name of readdirSync(directory)) if (!isWanted(name)) rmSync(join(directory, name))
  const path = (deployId: string) => join(directory, `${deployId}${suffix}`)

  return {
    /** The file is created with the first write. */
    create: (): ArchiveDraft => createDraft(directory, path),
    path,
    has: (deployId: string): boolean => existsSync(path(deployId)),
    remove: (deployId: string): Promise<void> => rm(path(deployId), { force: true }),
    async ids(): Promise<string[]> {
      const names = await readdir(directory)
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
    },
  }
}

function createDraft(directory: string, path: (deployId: string) => string): ArchiveDraft {
  const draft = join(directory, `${randomBytes(8).toString('hex')}${draftSuffix}`)
  let file: FileHandle | null = null

  async function close(): Promise<void> {
    const closing = file?.close()
    file = null
    await closing
  }

  return {
    async write(pieces) {
      file ??= await open(draft, 'wx', 0o600)
      await writeAll(file, pieces)
    },
    async commit(deployId) {
      await file?.sync()
      await close()
      await rename(draft, path(deployId))
      await syncDirectory(directory)
    },
    async discard() {
      await close()
      await rm(draft, { force: true })
    },
  }
}

async function writeAll(file: FileHandle, pieces: Uint8Array[]): Promise<void> {
  const { bytesWritten } = await file.writev(pieces)
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
  // A short write carries no error; writing the rest reports it.
  if (bytesWritten < sizeBytes) await file.appendFile(Buffer.concat(pieces).subarray(bytesWritten))
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
