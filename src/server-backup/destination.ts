// Where a finished backup goes. Another place, as an object store, implements the same two functions.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Failure, messageOf } from '../errors.ts'

export interface StoredBackup {
  sizeBytes: number
  /** In hex. */
  sha256: string
}

export interface Destination {
  /** Nothing is visible under the name until all of it is stored. An earlier try is replaced. */
  write(name: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredBackup>
  /** Reads back what is stored. */
  inspect(name: string): Promise<StoredBackup>
}

/** Throws `backup_failed`. */
export function folderDestination(folder: string): Destination {
  return {
    async write(name, bytes) {
      const path = join(folder, name)
      const draft = `${path}.part`
      const file = await open(draft, 'w', 0o600).catch(throwUnwritable)
      try {
        const stored = await measure(bytes, (piece) => file.writeFile(piece).catch(throwUnwritable))
        await file.sync().catch(throwUnwritable)
        await file.close()
        await rename(draft, path).catch(throwUnwritable)
        await syncFolder(dirname(path))
        return stored
      } catch (error) {
        await closeQuietly(file)
        await rm(draft, { force: true })
        throw error
      }
    },
    inspect: (name) => measure(createReadStream(join(folder, name))),
  }
}

/** Counts and hashes a stream. */
export async function measure(
  bytes: AsyncIterable<Uint8Array>,
  each: (piece: Uint8Array) => Promise<void> = async () => undefined,
): Promise<StoredBackup> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const piece of bytes) {
    hash.update(piece)
    sizeBytes += piece.length
    await each(piece)
  }
  return { sizeBytes, sha256: hash.digest('hex') }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function closeQuietly(file: FileHandle): Promise<void> {
  return file.close().catch(() => undefined)
}

function throwUnwritable(error: unknown): never {
  throw new Failure('backup_failed', `it cannot be written: ${messageOf(error)}`)
}
