// Writes archive entries into a new directory. Nothing is written through a link. A folder that was created
// stays a folder, so each is checked once; anything else in the way is removed first.
import { constants } from 'node:fs'
import { chmod, link, lstat, mkdir, open, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'
import { refused } from './entry-path.ts'

type Parts = readonly string[]

const asNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
/** Drops set-user-id and similar bits. The owner can always read and delete the files. */
const modeBits = 0o777
const fileBits = 0o600
const folderBits = 0o700
const impliedMode = 0o755
const knownFolders = 10_000

export class Tree {
  readonly #root: string
  readonly #folders = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  async addFolder(parts: Parts, mode: number): Promise<void> {
    if (parts.length === 0) return
    await this.#enter(parts.slice(0, -1))
    const path = this.#path(parts)
    await this.#createReplacing(parts, async () => {
      if (!(await isFolder(path))) await mkdir(path)
    })
    await chmod(path, (mode & modeBits) | folderBits)
  }

  async addFile(parts: Parts, mode: number, content: AsyncIterable<Buffer>): Promise<void> {
    await this.#enter(parts.slice(0, -1))
    const file = await this.#createReplacing(parts, () => open(this.#path(parts), asNew, fileBits))
    try {
      for await (const piece of content) await file.appendFile(piece)
      // Restores the mode bits that the umask removed at the creation.
      await file.chmod((mode & modeBits) | fileBits)
    } finally {
      await file.close()
    }
  }

  /** The caller has already checked the target. */
  async addSymlink(parts: Parts, target: string): Promise<void> {
    await this.#enter(parts.slice(0, -1))
    await this.#createReplacing(parts, () => symlink(target, this.#path(parts)))
  }

  /** The target must be an existing file. */
  async addHardLink(parts: Parts, target: Parts): Promise<void> {
    await this.#enter(parts.slice(0, -1))
    await this.#requireFile(parts, target)
    if (parts.join('/') === target.join('/')) return
    await this.#createReplacing(parts, () => link(this.#path(target), this.#path(parts)))
  }

  /** Removes an existing entry that is not a folder, and retries. */
  async #createReplacing<T>(parts: Parts, make: () => Promise<T>): Promise<T> {
    try {
      return await make()
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const path = this.#path(parts)
    if (await isFolder(path)) throw refused(parts.join('/'), 'is a folder already')
    await unlink(path)
    return make()
  }

  /** Ensures that all parents are real folders; creates missing ones. */
  async #enter(parts: Parts): Promise<void> {
    const path = this.#path(parts)
    if (parts.length === 0 || this.#folders.has(path)) return
    const above = parts.slice(0, -1)
    await this.#enter(above)
    const status = await readStatus(path)
    if (!status) await mkdir(path)
    if (!status) await chmod(path, impliedMode)
    if (status?.isSymbolicLink()) throw refused(parts.join('/'), 'is a link, and another entry is below it')
    if (status && !status.isDirectory())
      throw refused(parts.join('/'), 'is not a folder, but an entry is below it')
    if (this.#folders.size >= knownFolders) this.#folders.clear()
    this.#folders.add(path)
  }

  async #requireFile(parts: Parts, target: Parts): Promise<void> {
    for (let depth = 1; depth < target.length; depth++) {
      if (!(await isFolder(this.#path(target.slice(0, depth))))) throw unlinkable(parts, target)
    }
    const status = await readStatus(this.#path(target))
    if (!status?.isFile()) throw unlinkable(parts, target)
  }

  #path(parts: Parts): string {
    return join(this.#root, ...parts)
  }
}

function unlinkable(parts: Parts, target: Parts) {
  return refused(
    parts.join('/'),
    `is a hard link to ${target.join('/')}, which is not an earlier file of the archive`,
  )
}

/** A link to a folder does not count. */
async function isFolder(path: string): Promise<boolean> {
  return (await readStatus(path))?.isDirectory() ?? false
}

/** Null if the path does not exist. */
async function readStatus(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    throw error
  }
}
