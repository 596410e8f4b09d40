// The load's HTTP/2 requests over TLS. All share one connection, which is replaced only when the edge
// has closed it.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from 'node:http2'
import { isSame, isSelf, quickBody } from './answers.ts'
import { runOpenLoop } from './open-loop.ts'
import { type ServiceLoad, timeoutMs } from './plan.ts'
import type { Requests } from './requests.ts'
import { answeredBy, type RequestSample } from './sample.ts'

/** Resolves when the last response is complete. */
export async function runEncrypted({ load, chance, isOver, report }: Requests): Promise<void> {
  const { encrypted } = load
  if (!encrypted) return
  const kept: { session: ClientHttp2Session | null } = { session: null }
  await runOpenLoop(encrypted.perSecond, isOver, async () => {
    const previous = kept.session
    const isFresh = !previous || previous.closed || previous.destroyed
    const session = isFresh ? openSession(load.host, encrypted.port) : previous
    kept.session = session
    const body = chance.isTrue(0.75) ? null : quickBody(chance)
    report(await exchange(session, load, { body, port: encrypted.port, isFresh }))
  })
  kept.session?.destroy()
}

function openSession(host: string, port: number): ClientHttp2Session {
  // Local names have no trusted certificate.
  const session = connect(`https://127.0.0.1:${port}`, { servername: host, rejectUnauthorized: false })
  // Each request reports the failure of its connection.
  session.on('error', () => undefined)
  // New requests use another connection; requests in progress may complete.
  session.on('goaway', () => session.close())
  return session
}

interface Ask {
  /** The request body; null for a GET. */
  body: Buffer | null
  port: number
  isFresh: boolean
}

function exchange(session: ClientHttp2Session, { host, service }: ServiceLoad, ask: Ask) {
  const { body, port, isFresh } = ask
  const sentAt = Date.now()
  return new Promise<RequestSample>((resolve) => {
    const settle = (headers: IncomingHttpHeaders, fault: string | null) =>
      resolve({
        kind: body ? 'post' : 'get',
        service,
        connection: isFresh ? 'new encrypted' : 'encrypted',
        sentAt,
        doneAt: Date.now(),
        ...answeredBy(headers['x-answered-by']),
        requestId: String(headers['x-request-id'] ?? '') || null,
        fault,
      })
    const path = body ? { ':method': 'POST', ':path': '/echo' } : { ':method': 'GET', ':path': '/' }
    try {
      const stream = session.request({ ...path, ':authority': `${host}:${port}` })
      receive(stream, body ? isSame(body) : isSelf, settle)
      stream.end(body ?? undefined)
    } catch (error) {
      settle({}, `no stream: ${(error as Error).message}`)
    }
  })
}

/** May be called more than once; the first call counts. */
function receive(
  stream: ClientHttp2Stream,
  check: (body: Buffer, by: string) => string | null,
  settle: (headers: IncomingHttpHeaders, fault: string | null) => void,
): void {
  let headers: IncomingHttpHeaders = {}
  const chunks: Buffer[] = []
  stream.setTimeout(timeoutMs, () => stream.destroy(new Error(`silent for ${timeoutMs} ms`)))
  stream.on('response', (received) => {
    headers = received
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('end', () => {
    const status = Number(headers[':status'])
    const text = Buffer.concat(chunks)
    const isGood = status >= 200 && status <= 299
    const by = String(headers['x-answered-by'] ?? '')
    // A reset is reported by the error event that follows.
    if (stream.rstCode !== 0) return
    settle(headers, isGood ? check(text, by) : `${status}: ${text.toString().slice(0, 200)}`)
  })
  stream.on('error', (error) => settle(headers, `stream broke off: ${error.message}`))
  stream.on('close', () => settle(headers, `stream closed with ${stream.rstCode} within the answer`))
}
