// The recovery key of a server. The data directory has only its public half, the recipient: a reader of the
// server cannot read its backups, and losing the key makes every backup unreadable.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { createPrivateFile } from '../../storage/store/private-file.ts'
import { Failure, invalidRequest } from '../errors.ts'

export const recipientFile = 'backup_recipient'
const recipientPattern = /^age1[02-9ac-hj-np-z]{58}$/
const keyPattern = /\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\b/i

/** Null before the first key. Throws `backup_key_damaged`. */
export function readRecipient(dataDir: string): string | null {
  const path = join(dataDir, recipientFile)
  if (!existsSync(path)) return null
  const recipient = readFileSync(path, 'utf8').trim()
  if (recipientPattern.test(recipient)) return recipient
  throw new Failure(
    'backup_key_damaged',
    `${path} contains no age recipient`,
    'berthd backup-key makes a new key',
  )
}

/** Replaces the recipient. The returned recovery key is stored nowhere: show it once. */
export async function createRecoveryKey(dataDir: string): Promise<{ key: string; recipient: string }> {
  const key = await generateX25519Identity()
  const recipient = await identityToRecipient(key)
  createPrivateFile(join(dataDir, recipientFile), `${recipient}\n`)
  return { key, recipient }
}

/** Finds the key in what a person pasted or in a file of age-keygen. Throws `invalid_request`. */
export function parseRecoveryKey(text: string): string {
  const key = keyPattern.exec(text)?.[0].toUpperCase()
  if (key !== undefined) return key
  throw invalidRequest('this is not a recovery key', 'it begins with AGE-SECRET-KEY-1 and has 74 characters')
}

/** Names a key in messages and in the header of a backup without revealing the recipient. */
export function fingerprintOf(recipient: string): string {
  return createHash('sha256').update(recipient).digest('hex').slice(0, 16)
}
