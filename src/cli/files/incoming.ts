// Writes an archive from a server to this machine. The archive is not trusted: nothing is written outside of
// the target or through a link, and links that lead out of it, devices and pipes are left out.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { ByteReader } from '../../archive/byte-reader.ts'
import { type Entry, readEntries } from '../../archive/entries.ts'
import { climbsToTop, partsOf, quote } from '../../archive/entry-path.ts'
import { Tree } from '../../archive/tree.ts'
import { Failure } from '../../errors.ts'
import { CliFailure } from '../failure.ts'

export interface Target {
  /** A folder that exists. */
  folder: string
  /** Of the file or folder in it, instead of the name in the archive; null for the content of a folder. */
  name: string | null
}

export interface Received {
  files: number
  skipped: string[]
}

const metadataLimitBytes = 16 * 1024 * 1024

/** Throws CliFailure for an archive that is cut or hostile. */
export async function unpackInto(target: Target, archive: AsyncIterable<Buffer>): Promise<Received> {
  const tree = new Tree(target.folder)
  const received: Received = { files: 0, skipped: [] }
  const reader = new ByteReader(archive)
  try {
    for await (const entry of readEntries(reader, metadataLimitBytes))
      await addEntry({ tree, target, received }, entry)
    return received
  } catch (error) {
    if (error instanceof Failure) throw new CliFailure(`the files from the server: ${error.message}`)
    const { code, path } = error as NodeJS.ErrnoException
    throw path === undefined ? error : new CliFailure(`${path} cannot be written (${code})`)
  } finally {
    await reader.close()
  }
}

interface Unpacking {
  tree: Tree
  target: Target
  received: Received
}

async function addEntry({ tree, target, received }: Unpacking, entry: Entry): Promise<void> {
  const { type, name, linkName, mode, content } = entry
  const parts = placed(target, name)
  if (type === '0' || type === '7') {
    received.files += 1
    return tree.addFile(parts, mode, content)
  }
  if (type === '5') {
    await assertNoFile(target, parts)
    return tree.addFolder(parts, mode)
  }
  if (type === '1') return tree.addHardLink(parts, placed(target, linkName))
  if (type === '2' && staysInside(target, parts, linkName)) return tree.addSymlink(parts, linkName)
  received.skipped.push(quote(name))
  for await (const _ of content);
}

/** Where an entry goes, from the folder of the target. */
function placed({ name }: Target, given: string): string[] {
  const parts = partsOf(given)
  return name === null ? parts : [name, ...parts.slice(1)]
}

function staysInside({ name }: Target, parts: string[], linkTarget: string): boolean {
  try {
    climbsToTop(name === null ? parts : parts.slice(1), linkTarget)
    return true
  } catch {
    return false
  }
}

/** A file of the user must not give way to a folder, nor a link to one. */
async function assertNoFile({ folder }: Target, parts: string[]): Promise<void> {
  if (parts.length === 0) return
  const path = join(folder, ...parts)
  const found = await lstat(path).catch(() => null)
  if (found && !found.isDirectory()) throw new CliFailure(`${path} exists and is not a folder`)
}
