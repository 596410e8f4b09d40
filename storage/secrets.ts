// Seals secrets with AES-256-GCM under the key of the data directory. The row's id is authenticated too, so a
// sealed value that was copied to another row does not open.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { StorageError } from './store/errors.ts'
import { createPrivateFile } from './store/private-file.ts'
import type { Store } from './store/store.ts'

export interface Sealer {
  /** Returns `v1.` and base64. Two calls never return the same value. */
  seal(text: string, rowId: string): string
  /** The original text. Throws `secret_damaged` for a value that was changed, or sealed for another row. */
  open(sealed: string, rowId: string): string
  /**
   * Verifies the key. The caller stores the returned value and passes it at the next start (null at the
   * first). Throws `secret_key_wrong` when the value was sealed under another key.
   */
  check(sealed: string | null): string
  /** 16 lower-case letters and digits (80 bits), which cannot be derived from the text without the key. */
  mac(text: string): string
  /** 43 characters of base64url (256 bits), always the same for a text. */
  derive(text: string): string
}

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const version = 'v1.'
const checkRow = 'secret_key'
const checkText = 'berth'
const macLength = 16
const macAlphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * Opens `<dataDir>/secret_key`. `create` creates a missing key and is for a new data directory only: existing
 * secrets cannot be opened with another key. Throws `secret_key_missing`, `secret_key_wrong`.
 */
export function openSealer(dataDir: string, options: { create: boolean }): Sealer {
  const path = join(dataDir, 'secret_key')
  if (options.create && !fs.existsSync(path))
    createPrivateFile(path, `${randomBytes(keyBytes).toString('base64')}\n`)
  const key = readKeyFile(path)
  const macKey = Buffer.from(hkdfSync('sha256', key, '', 'berth names', keyBytes))
  return {
    mac: (text) => mac(macKey, text),
    derive: (text) =>
      Buffer.from(hkdfSync('sha256', key, '', `berth ${text}`, keyBytes)).toString('base64url'),
    seal: (text, rowId) => seal(key, text, rowId),
    open(sealed, rowId) {
      const text = open(key, sealed, rowId)
      if (text !== null) return text
      throw new StorageError('secret_damaged', `The secret of ${rowId} is damaged and cannot be opened`)
    },
    check(sealed) {
      if (sealed === null) return seal(key, checkText, checkRow)
      if (open(key, sealed, checkRow) === checkText) return sealed
      throw new StorageError('secret_key_wrong', `${path} is not the key this data was sealed with`)
    },
  }
}

function mac(key: Buffer, text: string): string {
  const bytes = createHmac('sha256', key).update(text).digest().subarray(0, macLength)
  return [...bytes].map((byte) => macAlphabet[byte % macAlphabet.length]).join('')
}

function seal(key: KeyObject, text: string, rowId: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(rowId))
  const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return version + body.toString('base64')
}

function open(key: KeyObject, sealed: string, rowId: string): string | null {
  const body = Buffer.from(sealed.slice(version.length), 'base64')
  if (!sealed.startsWith(version) || body.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(rowId))
  decipher.setAuthTag(body.subarray(-tagBytes))
  const text = decipher.update(body.subarray(nonceBytes, -tagBytes))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

/** Key files are written atomically, so a key is never half written. */
function readKeyFile(path: string): KeyObject {
  const key = Buffer.from(readIfThere(path), 'base64')
  if (key.length === keyBytes) return createSecretKey(key)
  throw new StorageError('secret_key_wrong', `${path} does not hold a key`)
}

function readIfThere(path: string): string {
  try {
    return fs.readFileSync(path, 'latin1').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new StorageError(
      'secret_key_missing',
      `${path} is missing: without it the stored secrets cannot be read`,
    )
  }
}

/** `prefix` makes the names of its rows unique among all sealed rows. */
export function openSealedTable<T>(store: Store, sealer: Sealer, table: string, prefix: string) {
  const rows = store.table<string>(table)
  const nameOf = (key: string) => `${prefix}:${key}`
  const open = (key: string, row: string): T => JSON.parse(sealer.open(row, nameOf(key)))
  return {
    get(key: string): T | null {
      const row = rows.get(key)
      return row === null ? null : open(key, row)
    },
    has: (key: string): boolean => rows.has(key),
    keys: (): string[] => [...rows.keys()] as string[],
    /** Without damaged rows. */
    list: (): T[] => [...rows.validRows()].map(({ key, value }) => open(String(key), value)),
    /** Only inside a commit. */
    put: (key: string, value: T) => rows.put(key, sealer.seal(JSON.stringify(value), nameOf(key))),
    /** Only inside a commit. */
    remove: (key: string) => rows.remove(key),
  }
}
