// Files that git LFS stores elsewhere: the checkout contains a pointer of a few lines instead.

import { constants } from 'node:fs'
import { lstat, open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DeployLog } from '../log.ts'

const pointerPrefix = 'version https://git-lfs.github.com/spec/'
/** The maximum size of a pointer file, by its specification. */
const maxPointerBytes = 1024
const maxShown = 5
/** Limits the search, so that it does not delay the deploy. */
const maxEntries = 20_000

/** Logs which files of the source are pointers. The deploy continues, because it may not need them. */
export async function logLfsPointers(directory: string, log: DeployLog): Promise<void> {
  const pointers = await findLfsPointers(directory)
  for (const path of pointers.slice(0, maxShown)) {
    const name = path.replace(/\p{Cc}/gu, '?')
    log.info(`${name} is a Git LFS pointer; its content is not fetched, the build gets the pointer`)
  }
  const more = pointers.length - maxShown
  if (more > 0)
    log.info(more === 1 ? '1 more file is a Git LFS pointer' : `${more} more files are Git LFS pointers`)
}

/** The paths of pointer files in the source, unordered. Links are not followed. */
export async function findLfsPointers(directory: string): Promise<string[]> {
  const found: string[] = []
  const folders = ['']
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    // A name that is not UTF-8 cannot be opened by its text. Unreadable files are skipped.
    const entries = await opendir(join(directory, folder)).catch(() => [])
    for await (const entry of entries) {
      if (++seen > maxEntries) return found
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile() && (await isPointer(join(directory, path)))) found.push(path)
    }
  }
  return found
}

async function isPointer(path: string): Promise<boolean> {
  const size = await lstat(path).then(
    (stat) => stat.size,
    () => 0,
  )
  if (size < pointerPrefix.length || size > maxPointerBytes) return false
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null)
  if (file === null) return false
  try {
    const { buffer } = await file.read(Buffer.alloc(pointerPrefix.length), 0, pointerPrefix.length, 0)
    return buffer.toString('latin1') === pointerPrefix
  } finally {
    await file.close()
  }
}
