// Prepares an SQL file for psql: decompressed, checked, and without the statements that are left out.
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type DumpFormat, formatOf, headBytes } from '../../domain/dump-format.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { readChunks } from '../backup/file.ts'
import { unsupported } from './sql-marks.ts'
import { openSqlThread } from './sql-thread.ts'

const gibibyte = 1024 ** 3
/** Text compresses up to about 20 times. A much higher ratio is an attempt to fill the disk. */
const maxCompressionRatio = 100
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

export interface SqlFile {
  path: string
  sizeBytes: number
}

/** Throws `restore_failed` for a missing file, and `unsupported_dump`. */
export async function formatOfFile(path: string): Promise<DumpFormat> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new Failure('restore_failed', `the file cannot be read: ${messageOf(error)}`)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return knownFormat(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

function knownFormat(head: Buffer): DumpFormat {
  const format = formatOf(head)
  if (typeof format === 'string') return format
  throw unsupported(`the file ${format.message}`)
}

/** The input of psql. `tell` gets the chunks as read from the disk. Throws `unsupported_dump`. */
export async function* readSql(
  { path, sizeBytes }: SqlFile,
  tell: (piece: Uint8Array) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const isPacked = (await formatOfFile(path)) === 'gzip'
  const lexer = openSqlThread(signal)
  try {
    const packed = readChunks(path, tell, signal)
    for await (const piece of startOfSql(isPacked ? unpack(packed, sizeBytes) : packed)) {
      signal.throwIfAborted()
      const sql = await lexer.push(piece)
      if (sql.length > 0) yield sql
    }
    await lexer.end()
  } finally {
    await lexer.close()
  }
}

async function* unpack(packed: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<Uint8Array> {
  const limitBytes = Math.max(gibibyte, sizeBytes * maxCompressionRatio)
  const gunzip = createGunzip()
  pipeline(packed, gunzip, () => undefined)
  let unpackedBytes = 0
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      unpackedBytes += piece.length
      if (unpackedBytes > limitBytes) throw unsupported(`it unpacks to more than ${limitBytes} bytes`)
      yield piece
    }
  } catch (error) {
    if (!codeOf(error).startsWith('Z_')) throw error
    throw unsupported(`it is truncated or changed: ${messageOf(error)}`)
  }
}

/** The same data without a byte order mark. Throws unless they start as SQL. */
async function* startOfSql(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | null = Buffer.alloc(0)
  for await (const piece of pieces) {
    if (head === null) yield piece
    else {
      head = Buffer.concat([head, piece])
      if (head.length < headBytes) continue
      yield requireSqlHead(head)
      head = null
    }
  }
  if (head !== null) yield requireSqlHead(head)
}

function requireSqlHead(head: Buffer): Buffer {
  if (knownFormat(head) !== 'sql') throw unsupported('a gzip file has to hold plain SQL: unpack it first')
  return head.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? head.subarray(byteOrderMark.length)
    : head
}
