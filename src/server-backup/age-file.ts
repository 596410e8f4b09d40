// Encrypts and decrypts streams in the format of age (age-encryption.org/v1), which the program `age` reads
// too. The library reports a wrong key, a cut and a changed byte alike; two additions distinguish them:
// a stanza in the header with the fingerprint of the key, and a length that is always whole chunks.
import { Decrypter, Encrypter, identityToRecipient, Stanza } from 'age-encryption'
import { Failure, messageOf } from '../errors.ts'
import { fingerprintOf } from './keys.ts'
import { notOfBerth } from './manifest.ts'

/** Plaintext per authenticated chunk. A backup is padded to a multiple of it. */
export const chunkBytes = 64 * 1024
const tagBytes = 16
const nonceBytes = 16
const maxHeaderBytes = 16 * 1024
const magic = 'age-encryption.org/v1\n'
const stanzaName = 'berth-backup/key'

export type Lock = { recipient: string } | { passphrase: string }
export type Unlock = { key: string } | { passphrase: string }

/** The length of the plaintext must be a multiple of `chunkBytes`. */
export async function encrypt(
  plain: ReadableStream<Uint8Array>,
  lock: Lock,
): Promise<AsyncIterable<Uint8Array>> {
  const encrypter = new Encrypter()
  if ('passphrase' in lock) encrypter.setPassphrase(lock.passphrase)
  else {
    encrypter.addRecipient(lock.recipient)
    const stanza = new Stanza([stanzaName, fingerprintOf(lock.recipient)], new Uint8Array())
    encrypter.addRecipient({ wrapFileKey: () => [stanza] })
  }
  return encrypter.encrypt(plain)
}

/**
 * Yields the plaintext; each piece was authenticated before. Throws `backup_invalid`, `wrong_recovery_key`,
 * `wrong_passphrase`, `backup_truncated` and `backup_damaged`.
 */
export async function* decrypt(
  source: AsyncIterable<Uint8Array>,
  unlock: Unlock,
): AsyncGenerator<Uint8Array> {
  const input = source[Symbol.asyncIterator]()
  let readBytes = 0
  let failure: unknown
  async function next(): Promise<Uint8Array | null> {
    try {
      const { value, done } = await input.next()
      if (done) return null
      readBytes += value.length
      return value
    } catch (error) {
      failure = error
      throw error
    }
  }
  const head = await readHead(next)
  const header = parseHeader(head)
  const decrypter = new Decrypter()
  if ('passphrase' in unlock) decrypter.addPassphrase(unlock.passphrase)
  else decrypter.addIdentity(unlock.key)
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      const piece = await next()
      if (piece === null) controller.close()
      else controller.enqueue(piece)
    },
    cancel: async () => void (await input.return?.()),
  })
  let plain: ReadableStream<Uint8Array>
  try {
    plain = await decrypter.decrypt(rest)
  } catch (error) {
    throw failure ?? (await headerFailure(error, header, unlock))
  }
  try {
    yield* plain
  } catch {
    if (failure !== undefined) throw failure
    const payloadBytes = readBytes - header.sizeBytes - nonceBytes
    const isWhole = payloadBytes > 0 && payloadBytes % (chunkBytes + tagBytes) === 0
    const hasEnded = await isAtEnd(next)
    if (!isWhole && hasEnded) throw truncated(readBytes)
    throw damaged(hasEnded ? 'its last 64 KiB' : `the bytes before ${readBytes}`)
  }
}

interface Header {
  sizeBytes: number
  /** Null for a backup that a passphrase opens, and for a file of another program. */
  fingerprint: string | null
  hasPassphrase: boolean
}

async function readHead(next: () => Promise<Uint8Array | null>): Promise<Uint8Array> {
  let head = Buffer.alloc(0)
  while (head.length < maxHeaderBytes) {
    const piece = await next()
    if (piece === null) break
    head = Buffer.concat([head, piece])
    if (!head.subarray(0, magic.length).equals(Buffer.from(magic).subarray(0, head.length))) break
    if (headerEnd(head) > 0) return head
  }
  if (head.length < magic.length || head.toString('latin1', 0, magic.length) !== magic) throw notOfBerth()
  if (head.length < maxHeaderBytes) throw truncated(head.length)
  throw damaged('its header')
}

/** The position after the line with the header's own code; 0 if it is not there yet. */
function headerEnd(head: Buffer): number {
  const start = head.indexOf('\n--- ')
  return start < 0 ? 0 : head.indexOf('\n', start + 1) + 1
}

function parseHeader(head: Uint8Array): Header {
  const sizeBytes = headerEnd(Buffer.from(head))
  const text = Buffer.from(head).toString('latin1', 0, sizeBytes)
  const fingerprint = new RegExp(`^-> ${stanzaName} ([0-9a-f]{16})$`, 'm').exec(text)?.[1] ?? null
  return { sizeBytes, fingerprint, hasPassphrase: /^-> scrypt /m.test(text) }
}

async function headerFailure(error: unknown, header: Header, unlock: Unlock): Promise<Failure> {
  if (/stream ended/.test(messageOf(error))) return truncated(header.sizeBytes)
  if ('passphrase' in unlock) {
    if (!header.hasPassphrase) {
      return new Failure('wrong_passphrase', 'this backup is opened by a recovery key, not by a passphrase')
    }
    return new Failure('wrong_passphrase', 'the passphrase is wrong, or the header of the backup was changed')
  }
  if (header.hasPassphrase) {
    return new Failure(
      'wrong_recovery_key',
      'this backup is opened by a passphrase',
      'berthd restore --passphrase',
    )
  }
  const given = fingerprintOf(await identityToRecipient(unlock.key))
  if (!/no identity matched/.test(messageOf(error)) || header.fingerprint === given)
    return damaged('its header')
  const wanted =
    header.fingerprint === null ? 'another key' : `the key with the fingerprint ${header.fingerprint}`
  return new Failure(
    'wrong_recovery_key',
    `this backup needs ${wanted}; the given one has the fingerprint ${given}`,
    'a backup needs the recovery key that the server had when it was made',
  )
}

async function isAtEnd(next: () => Promise<Uint8Array | null>): Promise<boolean> {
  return (await next().catch(() => null)) === null
}

function truncated(sizeBytes: number): Failure {
  return new Failure('backup_truncated', `the backup ends after ${sizeBytes} bytes, and the rest is missing`)
}

function damaged(where: string): Failure {
  return new Failure('backup_damaged', `the backup was changed in ${where}`, 'use another backup')
}
