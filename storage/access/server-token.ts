// The server token: the credential of scripts and users on this host.
// An empty or truncated file is refused: otherwise an empty credential would open the API.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../store/errors.ts'
import { createPrivateFile } from '../store/private-file.ts'

const pattern = /^bth_[A-Za-z0-9_-]{43}$/

/** Reads `<directory>/api_token`, or creates it. Throws `server_token_damaged`. */
export function openServerToken(directory: string): string {
  const path = join(directory, 'api_token')
  if (!existsSync(path)) createPrivateFile(path, `bth_${randomBytes(32).toString('base64url')}\n`)
  const token = readFileSync(path, 'utf8').trim()
  if (pattern.test(token)) return token
  throw new StorageError(
    'server_token_damaged',
    `${path} contains no token; remove the file and restart to create a new one`,
  )
}
