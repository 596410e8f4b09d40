// Keys of ssh in the formats of OpenSSH. Before version 9.6 it reads no other format of an ed25519 key.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'

export interface SshKeyPair {
  /** One line, as it is entered at a git provider. */
  publicKey: string
  /** The content of a key file. */
  privateKey: string
}

const type = 'ssh-ed25519'
const blockBytes = 8

/** The comment is one word. */
export function createSshKey(comment: string): SshKeyPair {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [point, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')]
  const publicBlob = Buffer.concat([field(type), field(point)])
  const check = randomBytes(4)
  const secret = [field(type), field(point), field(Buffer.concat([seed, point])), field(comment)]
  const none = [field('none'), field('none'), field('')]
  const one = Buffer.from([0, 0, 0, 1])
  const section = pad(Buffer.concat([check, check, ...secret]))
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...none,
    one,
    field(publicBlob),
    field(section),
  ])
  const lines = file.toString('base64').match(/.{1,70}/g)!
  const label = 'OPENSSH PRIVATE KEY'
  return {
    publicKey: `${type} ${publicBlob.toString('base64')} ${comment}`,
    privateKey: [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n'),
  }
}

/** As ssh and git providers show it. Takes the middle part of a public key. */
export function fingerprintOf(key: string): string {
  const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function pad(section: Buffer): Buffer {
  const missing = (blockBytes - (section.length % blockBytes)) % blockBytes
  return Buffer.concat([section, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))])
}
