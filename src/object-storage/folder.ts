// Objects as files of a folder. A missing folder is not created: its disk may not be mounted.
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Failure, messageOf } from '../errors.ts'
import { measured } from './measured.ts'
import type { ListedObject, ObjectStore } from './object-store.ts'

const openAttempts = 5
const draftSuffix = '.part'

export interface FolderOptions {
  directory: string
  /** Whether a missing folder is created. */
  isOwn: boolean
}

export function openFolder(options: FolderOptions): ObjectStore {
  const { directory } = options
  const pathOf = (name: string) => join(directory, name)
  return {
    locationOf: pathOf,

    async put(name, content, signal) {
      const path = pathOf(name)
      const draft = `${path}${draftSuffix}`
      const file = await openDraft(options, draft)
      const { content: pieces, facts } = measured(content)
      try {
        try {
          for await (const piece of pieces) {
            signal.throwIfAborted()
            await file.writeFile(piece).catch(throwUnwritable)
          }
          await file.sync().catch(throwUnwritable)
        } finally {
          await file.close()
        }
        await rename(draft, path).catch(throwUnwritable)
        await syncFolder(dirname(path))
      } catch (error) {
        await remove(directory, [draft]).catch(() => undefined)
        throw error
      }
      return facts()
    },

    async get(name, signal) {
      const path = pathOf(name)
      const found = await stat(path).catch(() => null)
      if (!found?.isFile()) throw new Failure('backup_failed', `${path} is gone`)
      return { sizeBytes: found.size, content: readFile(path, signal) }
    },

    async *list(prefix) {
      for await (const path of walk(directory)) {
        const name = relative(directory, path)
        const found = name.startsWith(prefix) && (await stat(path).catch(() => null))
        if (!found) continue
        const { size: sizeBytes, mtime } = found
        yield { name, sizeBytes, changedAt: mtime.toISOString() } satisfies ListedObject
      }
    },

    remove: (name) => remove(directory, [`${pathOf(name)}${draftSuffix}`, pathOf(name)]),
  }
}

/** Retries, because a folder is removed with its last file, possibly at this moment. */
async function openDraft({ directory, isOwn }: FolderOptions, draft: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (isOwn) await mkdir(directory, { recursive: true, mode: 0o700 })
      await stat(directory)
    } catch (error) {
      if (codeIn(error) !== 'ENOENT') throwUnwritable(error)
      throw new Failure('backup_failed', `${directory} does not exist: is it mounted? (--backup-dir)`)
    }
    try {
      await mkdir(dirname(draft), { recursive: true, mode: 0o700 })
      return await open(draft, 'w', 0o600)
    } catch (error) {
      if (codeIn(error) !== 'ENOENT' || attempt === openAttempts) throwUnwritable(error)
    }
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes the files, and their folder if it is then empty. */
async function remove(directory: string, paths: [string, ...string[]]): Promise<void> {
  for (const path of paths) await rm(path, { force: true })
  const folder = dirname(paths[0])
  if (folder !== directory) await rmdir(folder).catch(() => undefined)
}

async function* readFile(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      yield piece
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new Failure('backup_failed', `it cannot be read: ${messageOf(error)}`)
  }
}

async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (codeIn(error) === 'ENOENT') return []
    throw error
  })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile() && !entry.name.endsWith(draftSuffix)) yield path
  }
}

function codeIn(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function throwUnwritable(error: unknown): never {
  throw new Failure('backup_failed', `it cannot be written: ${messageOf(error)}`)
}
