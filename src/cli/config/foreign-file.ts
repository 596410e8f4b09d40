// Small files that come with a folder somebody else may have made: read only where they are what they seem.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { size } from '../../quantities.ts'
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
  const seen = orFailure(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (seen === undefined || seen.isDirectory()) return null
  if (!seen.isFile()) throw new CliFailure(`${path} is no regular file`, { hint: 'take it away' })
  // It may be another one by now: opened without following a link, and without waiting for a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = orFailure(path, () => openSync(path, flags))
  try {
    const { size: sizeBytes, uid } = fstatSync(file)
    if (sizeBytes > limitBytes) throw new CliFailure(`${path} is larger than ${size(limitBytes)}`)
    const bytes = Buffer.alloc(limitBytes)
    return { text: bytes.subarray(0, readSync(file, bytes)).toString('utf8'), uid }
  } finally {
    closeSync(file)
  }
}

function orFailure<T>(path: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    throw new CliFailure(`cannot read ${path}: ${(error as Error).message}`)
  }
}
