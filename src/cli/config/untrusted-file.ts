// Reads small files of an untrusted folder. Only regular files are read.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { size } from '../../quantities.ts'
import { CliFailure } from '../failure.ts'

interface Found {
  text: string
  uid: number
}

/**
 * Null if the file does not exist or is a folder. Throws CliFailure for a link, a pipe or a device, and above
 * the limit: reading such a file might never end.
 */
export function readUntrustedFile(path: string, limitBytes: number): Found | null {
  const seen = orFailure(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (seen === undefined || seen.isDirectory()) return null
  if (!seen.isFile()) throw new CliFailure(`${path} is not a regular file`, { hint: 'remove it' })
  // The file may have been replaced: it is opened without following a link or waiting for a pipe.
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
