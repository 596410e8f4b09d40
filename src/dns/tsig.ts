// Signatures of DNS messages with a shared key (TSIG, RFC 8945): the key's file, signing, checking.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '../errors.ts'

export interface TsigKey {
  name: string
  algorithm: string
  secret: Buffer
}

const typeTsig = 250
const classAny = 255
const fudgeSeconds = 300
const errors: Record<number, string> = { 16: 'BADSIG', 17: 'BADKEY', 18: 'BADTIME', 22: 'BADTRUNC' }

/**
 * Accepts the format of `tsig-keygen`, or `hmac-sha256:name:secret` on one line. No message contains the key.
 */
export function parseTsigKey(text: string): TsigKey {
  const [, shortAlgorithm, shortName, shortSecret] =
    /^(hmac-sha\d+):([\w.-]+):([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? []
  const name = shortName ?? /key\s+"?([\w.-]+)"?\s*\{/.exec(text)?.[1]
  const algorithm = shortAlgorithm ?? /algorithm\s+"?(hmac-sha\d+)"?\s*;/i.exec(text)?.[1]
  const secret = shortSecret ?? /secret\s+"([A-Za-z0-9+/=]+)"\s*;/.exec(text)?.[1]
  if (!name || !algorithm || !secret || !/^hmac-sha(1|224|256|384|512)$/i.test(algorithm)) {
    const hint = 'tsig-keygen prints one: key "name" { algorithm hmac-sha256; secret "…"; };'
    throw new Failure('dns_failed', 'the file of the TSIG key contains no HMAC-SHA key', hint)
  }
  const plain = name.replace(/\.$/, '').toLowerCase()
  return { name: plain, algorithm: algorithm.toLowerCase(), secret: Buffer.from(secret, 'base64') }
}

export function sign(message: Buffer, key: TsigKey, nowMs = Date.now()): { signed: Buffer; mac: Buffer } {
  const time = timeOf(Math.floor(nowMs / 1000))
  const mac = digest(key, [message, variablesOf(key, time, 0, Buffer.alloc(0))])
  const algorithm = encodeName(key.algorithm)
  const data = Buffer.concat([
    algorithm,
    time,
    u16(fudgeSeconds),
    u16(mac.length),
    mac,
    message.subarray(0, 2),
    u16(0),
    u16(0),
  ])
  const head = Buffer.concat([encodeName(key.name), u16(typeTsig), u16(classAny), u16(0), u16(0)])
  const signed = Buffer.concat([message, head, u16(data.length), data])
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10)
  return { signed, mac }
}

/** Throws `dns_failed` unless the response has the key's signature for that request. */
export function verify(response: Buffer, key: TsigKey, requestMac: Buffer): void {
  const signature = findTsig(response)
  if (signature === null) throw new Failure('dns_failed', 'the name server did not sign its response')
  const { start, time, error, mac, other } = signature
  if (error !== 0) {
    const hint = 'name, algorithm and secret of the key must be those of the name server'
    throw new Failure('dns_failed', `the name server refuses the key: ${errors[error] ?? error}`, hint)
  }
  const message = Buffer.from(response.subarray(0, start))
  message.writeUInt16BE(message.readUInt16BE(10) - 1, 10)
  const variables = variablesOf(key, time, error, other, signature.fudge)
  const expected = digest(key, [u16(requestMac.length), requestMac, message, variables])
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    throw new Failure('dns_failed', 'the signature of the name server is wrong')
  }
}

/** The last record of the additional section. */
function findTsig(message: Buffer) {
  const counts = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  const [questions = 0, ...records] = counts
  const total = records.reduce((sum, count) => sum + count, 0)
  let at = 12
  for (let index = 0; index < questions; index++) at = skipName(message, at) + 4
  let start = at
  for (let index = 0; index < total; index++) {
    start = at
    const fields = skipName(message, at)
    at = fields + 10 + message.readUInt16BE(fields + 8)
  }
  const fields = skipName(message, start)
  if (total === 0 || message.readUInt16BE(fields) !== typeTsig) return null
  const data = skipName(message, fields + 10)
  const macEnd = data + 10 + message.readUInt16BE(data + 8)
  return {
    start,
    time: message.subarray(data, data + 6),
    fudge: message.readUInt16BE(data + 6),
    mac: message.subarray(data + 10, macEnd),
    error: message.readUInt16BE(macEnd + 2),
    other: message.subarray(macEnd + 6, macEnd + 6 + message.readUInt16BE(macEnd + 4)),
  }
}

/** Throws a RangeError beyond the end. */
function skipName(message: Buffer, at: number): number {
  let next = at
  for (;;) {
    const length = message.readUInt8(next)
    if (length === 0) return next + 1
    if (length >= 0xc0) return next + 2
    next += 1 + length
  }
}

function variablesOf(key: TsigKey, time: Buffer, error: number, other: Buffer, fudge = fudgeSeconds): Buffer {
  return Buffer.concat([
    encodeName(key.name),
    u16(classAny),
    u16(0),
    u16(0),
    encodeName(key.algorithm),
    time,
    u16(fudge),
    u16(error),
    u16(other.length),
    other,
  ])
}

function digest(key: TsigKey, parts: Buffer[]): Buffer {
  const hmac = createHmac(key.algorithm.replace('hmac-', ''), key.secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

function timeOf(seconds: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(seconds, 0, 6)
  return bytes
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** The form that signatures cover: lower case, not compressed. */
export function encodeName(name: string): Buffer {
  const labels = name
    .toLowerCase()
    .split('.')
    .map((label) => Buffer.from(label, 'latin1'))
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])])
}
