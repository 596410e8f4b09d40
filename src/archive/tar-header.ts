// One header block of a tar archive: POSIX ustar, GNU, and the old form without a magic. Names stay bytes
// until they are needed: if an extended header has the name, the one here may end within a character.
import { Failure } from '../errors.ts'

export const blockBytes = 512

export interface TarHeader {
  /** A single character, as in the header. */
  type: string
  name: Buffer
  linkName: Buffer
  sizeBytes: number
  mode: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const slash = Buffer.from('/')

/** Throws `archive_invalid` for an invalid header block. */
export function parseHeader(block: Buffer): TarHeader {
  if (Number.parseInt(block.toString('latin1', 148, 156), 8) !== checksum(block))
    throw invalid('contains an invalid tar header')
  const name = readBytes(block, 0, 100)
  const prefix = isUstar(block) ? readBytes(block, 345, 155) : Buffer.alloc(0)
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156]!)
  return {
    type,
    name: prefix.length > 0 ? Buffer.concat([prefix, slash, name]) : name,
    linkName: readBytes(block, 157, 100),
    sizeBytes: readNumber(block, 124, 12),
    mode: readNumber(block, 100, 8),
  }
}

/** The block that ends an archive. */
export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0)
}

/** Decodes a name. Throws `archive_invalid` if it is not UTF-8 or contains a NUL. */
export function decodeText(bytes: Buffer): string {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalid('has a name that is not UTF-8')
  }
  if (text.includes('\0')) throw invalid('has a name with a NUL in it')
  return text
}

export function invalid(problem: string): Failure {
  return new Failure('archive_invalid', `the archive ${problem}`)
}

/** The prefix field exists only with this magic: GNU tar uses its bytes for other fields. */
function isUstar(block: Buffer): boolean {
  return block.toString('latin1', 257, 263) === 'ustar\0'
}

/** The sum of all bytes, with spaces in place of the checksum itself. */
function checksum(block: Buffer): number {
  let sum = 8 * 32
  for (let at = 0; at < blockBytes; at++) if (at < 148 || at >= 156) sum += block[at]!
  return sum
}

/** Up to the first NUL. */
function readBytes(block: Buffer, start: number, lengthBytes: number): Buffer {
  const field = block.subarray(start, start + lengthBytes)
  const end = field.indexOf(0)
  return end === -1 ? field : field.subarray(0, end)
}

/** Octal digits, or big-endian binary if the first bit is set. */
function readNumber(block: Buffer, start: number, lengthBytes: number): number {
  const field = block.subarray(start, start + lengthBytes)
  if (field[0]! >= 0x80) return readBinary(field)
  const digits = field.toString('latin1').split('\0')[0]!.trim()
  if (!/^[0-7]*$/.test(digits)) throw invalid('has a header with a broken number')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function readBinary(field: Buffer): number {
  const high = field.subarray(1, -6)
  const value = field.readUIntBE(field.length - 6, 6)
  if (field[0] === 0x80 && high.every((byte) => byte === 0)) return value
  throw invalid('has a header with a number that is negative or too large')
}
