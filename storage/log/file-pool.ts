// A pool of at most `limit` open files by path. The least recently used one is closed first.
// Files are opened for reading and writing, and never created: a deleted file is not created again.
import { type FileHandle, open } from 'node:fs/promises'
import pLimit, { type LimitFunction } from 'p-limit'

interface OpenFile {
  path: string
  file: Promise<FileHandle>
  users: number
  isForgotten: boolean
}

export class FilePool {
  #keptFiles: number
  readonly #files = new Map<string, OpenFile>()
  readonly #closing = new Set<Promise<void>>()
  readonly #turns: LimitFunction

  constructor(limit: number) {
    this.#turns = pLimit(limit)
    this.#keptFiles = limit
  }

  /** Runs with the open file; waits while too many are in use. After a failure the file is reopened. */
  use<T>(path: string, run: (file: FileHandle) => Promise<T>): Promise<T> {
    return this.#turns(async () => {
      const used = this.#enter(path)
      try {
        return await run(await used.file)
      } catch (error) {
        this.#forget(used)
        throw error
      } finally {
        this.#leave(used)
      }
    })
  }

  /** Closes the file after its last use. */
  forget(path: string): void {
    const kept = this.#files.get(path)
    if (kept !== undefined) this.#forget(kept)
  }

  /** Closes all files. A file in use is closed after its last use. */
  async close(): Promise<void> {
    this.#keptFiles = 0
    for (const kept of this.#files.values()) this.#forget(kept)
    await Promise.all(this.#closing)
  }

  #enter(path: string): OpenFile {
    const used = this.#files.get(path) ?? { path, file: open(path, 'r+'), users: 0, isForgotten: false }
    used.users++
    this.#files.delete(path)
    this.#files.set(path, used)
    return used
  }

  #leave(used: OpenFile): void {
    used.users--
    if (used.isForgotten && used.users === 0) this.#closeFile(used)
    for (const kept of this.#files.values()) {
      if (this.#files.size <= this.#keptFiles) return
      if (kept.users === 0) this.#forget(kept)
    }
  }

  #forget(kept: OpenFile): void {
    if (kept.isForgotten) return
    kept.isForgotten = true
    this.#files.delete(kept.path)
    if (kept.users === 0) this.#closeFile(kept)
  }

  #closeFile(kept: OpenFile): void {
    const closed = kept.file.then((file) => file.close()).catch(() => undefined)
    this.#closing.add(closed)
    void closed.then(() => this.#closing.delete(closed))
  }
}
