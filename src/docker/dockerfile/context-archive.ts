// A directory as a tar archive, in the same order each time, owned by root. Links stay links and are never
// followed; sockets, pipes and devices are left out.
import { constants, type Stats } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Header, Pack } from 'tar-stream'

type EntryHeader = Partial<Header> & Pick<Header, 'name'>

export interface Tree {
  root: string
  keeps(path: string): Promise<boolean>
  /** Whether an excluded directory may contain included files. */
  mayKeepBelow(path: string): boolean
}

/** Packs what the tree keeps and closes the archive. */
export async function packTree(archive: Pack, tree: Tree, signal: AbortSignal): Promise<void> {
  for await (const path of walk(tree, '', signal)) {
    await packEntry(archive, join(tree.root, path), path, signal)
  }
  archive.finalize()
}

export async function packFile(
  archive: Pack,
  file: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  // Links are not followed: the path may have become a link since it was checked.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const stats = await handle.stat()
    const header = { ...headersOf(stats, path), type: 'file' as const, size: stats.size }
    if (stats.size === 0) return await packEmpty(archive, header)
    // A file that grows during packing is truncated, because the archive already contains its size.
    const content = handle.createReadStream({ end: stats.size - 1, autoClose: false })
    await pipeline(content, archive.entry(header), { signal })
  } finally {
    await handle.close()
  }
}

async function* walk(tree: Tree, directory: string, signal: AbortSignal): AsyncGenerator<string> {
  const entries = await readdir(join(tree.root, directory), { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    signal.throwIfAborted()
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`
    const isRetained = await tree.keeps(path)
    if (isRetained) yield path
    if (entry.isDirectory() && (isRetained || tree.mayKeepBelow(path))) yield* walk(tree, path, signal)
  }
}

async function packEntry(archive: Pack, file: string, path: string, signal: AbortSignal): Promise<void> {
  const stats = await lstat(file)
  const headers = headersOf(stats, path)
  if (stats.isFile()) await packFile(archive, file, path, signal)
  else if (stats.isDirectory()) await packEmpty(archive, { ...headers, type: 'directory' })
  else if (stats.isSymbolicLink()) {
    await packEmpty(archive, { ...headers, type: 'symlink', linkname: await readlink(file) })
  }
}

// Destroying an archive emits an error event on each of its open entries.
function packEmpty(archive: Pack, header: EntryHeader): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, '', (error) => (error ? reject(error) : resolve())).on('error', reject)
  })
}

function headersOf(stats: Stats, path: string): EntryHeader {
  return { name: path, mode: stats.mode & 0o777, mtime: stats.mtime, uid: 0, gid: 0 }
}
