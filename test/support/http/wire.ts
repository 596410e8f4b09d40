// Raw HTTP requests: sends what Node's clients refuse to send, and resolves as soon as the
// response is complete.
// One connection per request; an event stream counts as complete when it falls silent.
import { connect } from 'node:net'

export interface WireRequest {
  method: string
  /** Path and query, as they appear in the request line. */
  target: string
  /** In this order, with repetitions; Host and Content-Length are not added. */
  headers: readonly (readonly [name: string, value: string])[]
  body?: Buffer
}

export interface WireAnswer {
  status: number
  /** By lower-case name. */
  headers: ReadonlyMap<string, string>
  text: string
}

interface WireOptions {
  /** An event stream counts as complete after this silence. */
  streamSilenceMs?: number
  /** The client closes the connection after this silence; by default silence is an error. */
  patienceMs?: number
  /** The client closes the connection after sending this many bytes. */
  leaveAfterBytes?: number
}

const answerTimeoutMs = 60_000
const streamSilenceMs = 20

export function toBytes({ method, target, headers, body }: WireRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)])
}

/** Resolves with null if either side closes the connection before the response is complete. */
export function exchange(port: number, bytes: Buffer, options: WireOptions = {}): Promise<WireAnswer | null> {
  const isHead = bytes.subarray(0, 5).toString('latin1') === 'HEAD '
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let received = Buffer.alloc(0)
    const finish = (response: WireAnswer | null) => {
      socket.destroy()
      resolve(response)
    }
    socket.setTimeout(options.patienceMs ?? answerTimeoutMs)
    socket.on('timeout', () => {
      const answer = parseAnswer(received, isHead)
      if (answer?.isStream || options.patienceMs !== undefined) return finish(answer)
      socket.destroy()
      const requested = JSON.stringify(bytes.subarray(0, 200).toString('latin1'))
      reject(new Error(`no answer in ${answerTimeoutMs / 1000} s to ${requested}`))
    })
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const answer = parseAnswer(received, isHead)
      if (answer?.isWhole) return finish(answer)
      if (answer?.isStream) socket.setTimeout(options.streamSilenceMs ?? streamSilenceMs)
    })
    socket.on('error', () => finish(null))
    socket.on('close', () => {
      const answer = parseAnswer(received, isHead)
      finish(answer?.isWhole || answer?.endsWithClose ? answer : null)
    })
    const { leaveAfterBytes } = options
    if (leaveAfterBytes === undefined) socket.write(bytes)
    else socket.write(bytes.subarray(0, leaveAfterBytes), () => finish(null))
  })
}

interface Received extends WireAnswer {
  isWhole: boolean
  isStream: boolean
  /** The response has no length. */
  endsWithClose: boolean
}

/** Null until the head is complete. */
function parseAnswer(received: Buffer, isHead: boolean): Received | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Map(lines.map((line) => splitHeader(line)))
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  const length = Number(headers.get('content-length') ?? Number.NaN)
  // Any further data is a response to bytes that were parsed as another request.
  const body = received.subarray(end + 4, Number.isNaN(length) ? undefined : end + 4 + length)
  const isEmpty = isHead || status === 204
  return {
    status,
    headers,
    text: body.toString('utf8'),
    isWhole: isEmpty || body.length >= length,
    isStream: headers.get('content-type') === 'text/event-stream',
    endsWithClose: Number.isNaN(length),
  }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** Encodes every byte except letters and digits, so that the path parameter is exactly this text. */
export function percentEncoded(text: string): string {
  const bytes = [...Buffer.from(text)]
  const encode = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  return bytes
    .map((byte) => (/[A-Za-z0-9]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : encode(byte)))
    .join('')
}
