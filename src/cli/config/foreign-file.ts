// Small files that come with a folder somebody else may have made: read only where they are what they seem.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs'
import { CliFailure } from '../failure.ts'

interface Found {
  text: string
  /** Whose it is. */
  uid: number
}

/**
 * Null when there is no such file, or a folder in its place. Throws CliFailure for a link, a pipe or a
 * device, and beyond the limit: reading one could go on for ever.
 */
export function readForeignFile(path: string, limitBytes: number): Found | null {
  const seen = lookAt(path)
  if (seen === null || seen.isDirectory()) return null
  if (!seen.isFile()) throw new CliFailure(`${path} is no regular file`, { hint: 'take it away' })
  // It may be another one by now: opened without following a link, and without waiting for a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size, uid } = fstatSync(file)
    if (size > limitBytes) throw new CliFailure(`${path} is larger than ${limitBytes / 1024} KiB`)
    const bytes = Buffer.alloc(limitBytes)
    return { text: bytes.subarray(0, readSync(file, bytes)).toString('utf8'), uid }
  } finally {
    closeSync(file)
  }
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new CliFailure(`cannot read ${path}: ${(error as Error).message}`)
  }
}
