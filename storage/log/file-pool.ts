// A pool of at most `limit` open files by path. The least recently used one is closed first.
// Files are opened for reading and writing, and never created: a deleted file is not created again.
import { type FileHandle, open } from 'node:fs/promises'
import pLimit, { type LimitFunction } from 'p-limit'

interface OpenFile {
  path: string
  file: Promise<FileHandle>
  users: number
  isEvicted: boolean
}

export class FilePool {
  #maxOpen: number
  readonly #files = new Map<string, OpenFile>()
  readonly #closing = new Set<Promise<void>>()
  readonly #turns: LimitFunction

  constructor(limit: number) {
    this.#turns = pLimit(limit)
    this.#maxOpen = limit
  }

  /** Runs with the open file; waits while too many are in use. After a failure the file is reopened. */
  use<T>(path: string, run: (file: FileHandle) => Promise<T>): Promise<T> {
    return this.#turns(async () => {
      const used = this.#acquire(path)
      try {
        return await run(await used.file)
      } catch (error) {
        this.#evict(used)
        throw error
      } finally {
        this.#release(used)
      }
    })
  }

  /** Closes the file after its last use. */
  evict(path: string): void {
    const entry = this.#files.get(path)
    if (entry !== undefined) this.#evict(entry)
  }

  async close(): Promise<void> {
    this.#maxOpen = 0
    for (const entry of this.#files.values()) this.#evict(entry)
    await Promise.all(this.#closing)
  }

  #acquire(path: string): OpenFile {
    const used = this.#files.get(path) ?? { path, file: open(path, 'r+'), users: 0, isEvicted: false }
    used.users++
    this.#files.delete(path)
    this.#files.set(path, used)
    return used
  }

  #release(used: OpenFile): void {
    used.users--
    if (used.isEvicted && used.users === 0) this.#closeFile(used)
    for (const entry of this.#files.values()) {
      if (this.#files.size <= this.#maxOpen) return
      if (entry.users === 0) this.#evict(entry)
    }
  }

  #evict(entry: OpenFile): void {
    if (entry.isEvicted) return
    entry.isEvicted = true
    this.#files.delete(entry.path)
    if (entry.users === 0) this.#closeFile(entry)
  }

  #closeFile(entry: OpenFile): void {
    const closed = entry.file.then((file) => file.close()).catch(() => undefined)
    this.#closing.add(closed)
    void closed.then(() => this.#closing.delete(closed))
  }
}
