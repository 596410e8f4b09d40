// The server token: the credential of scripts and people on this host (section 5 of the API document).
// An empty or cut-off file must never become a token, or nothing at all would open the API.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../store/errors.ts'
import { createPrivateFile } from '../store/private-file.ts'

const pattern = /^bth_[A-Za-z0-9_-]{43}$/

/** `<directory>/api_token`, made when there is none. Throws `server_token_damaged`. */
export function openServerToken(directory: string): string {
  const path = join(directory, 'api_token')
  if (!existsSync(path)) createPrivateFile(path, `bth_${randomBytes(32).toString('base64url')}\n`)
  const token = readFileSync(path, 'utf8').trim()
  if (pattern.test(token)) return token
  throw new StorageError('server_token_damaged', `${path} holds no token; remove it and a new one is made`)
}
