// One HTTP request of the load and its result. Never rejects: failures are recorded in the sample.
import { type Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { type ServiceLoad, timeoutMs } from './plan.ts'
import { answeredBy, type RequestSample } from './sample.ts'

export interface Ask {
  kind: RequestSample['kind']
  method: 'GET' | 'POST'
  path: string
  /** Null for a separate connection. */
  agent: Agent | null
  /** How long the response takes by design. */
  takesMs: number
  /** Sends the body and ends the request; returns a function that stops it. */
  send(request: ClientRequest): () => void
  /** The fault of a response body, or null. `by` is the sender named in the response. */
  check(body: Buffer, by: string): string | null
}

export function exchange(load: ServiceLoad, ask: Ask): Promise<RequestSample> {
  const { host, port } = load
  const sentAt = Date.now()
  return new Promise((resolve) => {
    const request = openRequest({
      host: '127.0.0.1',
      port,
      method: ask.method,
      path: ask.path,
      agent: ask.agent ?? false,
      headers: { host: `${host}:${port}` },
    })
    let answer: IncomingMessage | null = null
    const stopSending = ask.send(request)
    const limitMs = ask.takesMs + timeoutMs
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${limitMs} ms`)), limitMs)
    let isSettled = false
    const settle = (fault: string | null) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      stopSending()
      if (fault !== null) request.destroy()
      resolve(sampleOf(load, ask, { request, answer, sentAt, fault }))
    }
    request.on('error', (error) => settle(wordsOf(error, answer)))
    request.on('response', (response) => {
      answer = response
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', (error) => settle(wordsOf(error, response)))
      response.on('end', () => settle(faultOf(ask, response, Buffer.concat(chunks))))
      response.on('close', () => settle('the connection closed within the answer'))
    })
    // The request's finish event may come after the response's end.
    request.on('close', () => answer ?? settle('the connection closed without an answer'))
  })
}

interface Exchanged {
  request: ClientRequest
  answer: IncomingMessage | null
  sentAt: number
  fault: string | null
}

function sampleOf(load: ServiceLoad, ask: Ask, exchanged: Exchanged): RequestSample {
  const { request, answer, sentAt, fault } = exchanged
  const fresh = ask.agent === null ? 'own' : 'new'
  return {
    kind: ask.kind,
    service: load.service,
    connection: request.reusedSocket ? 'used' : fresh,
    sentAt,
    doneAt: Date.now(),
    ...answeredBy(answer?.headers['x-answered-by']),
    requestId: String(answer?.headers['x-request-id'] ?? '') || null,
    fault,
  }
}

function faultOf(ask: Ask, { statusCode = 0, headers }: IncomingMessage, body: Buffer): string | null {
  if (statusCode < 200 || statusCode > 299) return `${statusCode}: ${body.toString().slice(0, 200)}`
  return ask.check(body, String(headers['x-answered-by'] ?? ''))
}

function wordsOf(error: Error, response: IncomingMessage | null): string {
  const code = (error as NodeJS.ErrnoException).code
  const text = code && !error.message.includes(code) ? `${code} ${error.message}` : error.message
  return response ? `broke off within the answer: ${text}` : text
}
