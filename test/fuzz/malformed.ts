// Malformed HTTP: what scanners, broken clients and attackers send.
import fc from 'fast-check'

const host = 'Host: localhost\r\n'

const heads = [
  '',
  '\r\n',
  '\n\n',
  ' ',
  'GET',
  'GET /\r\n\r\n',
  'GET / HTTP/0.9\r\n\r\n',
  'GET / HTTP/2.0\r\n\r\n',
  '\0\0\0\0',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `GET  / HTTP/1.1\r\n${host}\r\n`,
  `GET / HTTP/1.1\r\n ${host}\r\n`,
  `GET http://evil.invalid/ HTTP/1.1\r\n${host}\r\n`,
  `GET * HTTP/1.1\r\n${host}\r\n`,
  `CONNECT a:1 HTTP/1.1\r\n\r\n`,
  `GET / HTTP/1.1\r\n${host}Broken header\r\n\r\n`,
  `GET / HTTP/1.1\r\n${host}: empty\r\n\r\n`,
  `GET / HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`,
  `GET / HTTP/1.1\r\n${host}X-\x01: a\r\n\r\n`,
  `GET / HTTP/1.1\n${host}\n`,
  `GET /\x80\xff HTTP/1.1\r\n${host}\r\n`,
  `GET /%zz%00 HTTP/1.1\r\n${host}\r\n`,
  `GET //.. HTTP/1.1\r\n${host}\r\n`,
  `POST / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
  `POST / HTTP/1.1\r\n${host}Content-Length: 99999999999999999999\r\n\r\n`,
  `POST / HTTP/1.1\r\n${host}Content-Length: 5, 5\r\n\r\nhello`,
  `POST / HTTP/1.1\r\n${host}Content-Length: 0x5\r\n\r\nhello`,
  `POST / HTTP/1.1\r\n${host}Content-Length: 500\r\n\r\nhello`,
  `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\n\r\nhello`,
  `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  `POST / HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n`,
  `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n`,
  `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`,
  `GET / HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n`,
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'SSH-2.0-x\r\n',
  'EHLO x\r\n',
  '*1\r\n$4\r\nPING\r\n',
  `GET /healthz HTTP/1.1\r\n${host}\r\n`.repeat(3),
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
  `GET / HTTP/1.1\r\n${host}X: ${'a'.repeat(20_000)}\r\n\r\n`,
  `GET / HTTP/1.1\r\n${host}${'X: a\r\n'.repeat(300)}\r\n`,
].map((text) => Buffer.from(text, 'latin1'))

const noise = fc.uint8Array({ minLength: 1, maxLength: 600 }).map((bytes) => Buffer.from(bytes))

/** A known head with some bytes replaced, or random bytes. */
export const malformedBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(...heads),
  fc.tuple(fc.constantFrom(...heads), noise).map(([head, bytes]) => Buffer.concat([head, bytes])),
  fc
    .tuple(fc.constantFrom(...heads), fc.nat(), fc.nat({ max: 255 }))
    .map(([head, at, byte]) => damaged(head, at, byte)),
  noise,
)

function damaged(head: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(head)
  if (copy.length > 0) copy[at % copy.length] = byte
  return copy
}
