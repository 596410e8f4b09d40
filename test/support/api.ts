// A client of the API as a script would be: JSON in and out, logs by server-sent events.
// Every answer it gets is checked against the OpenAPI document.
import { checkAnswer } from './openapi.ts'

export interface Answer {
  status: number
  body: Body
  headers: Headers
}

/** Tests read whatever shape the answer has; that it is the documented one was checked. */
export type Body = ReturnType<typeof JSON.parse>

export interface SseEvent {
  id: string | null
  event: string
  data: string
}

export interface Api {
  url: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Like `call`, but anything else than a success throws with the problem's words. */
  get(path: string): Promise<Body>
  post(path: string, body?: unknown): Promise<Body>
  patch(path: string, body: unknown): Promise<Body>
  /** The events of a stream, until it ends or the signal says so. */
  events(path: string, options?: { signal?: AbortSignal; lastEventId?: number }): AsyncGenerator<SseEvent>
}

/** A connection kept for the next request may be closed by the server in that very moment: then it fails. */
const fresh = { connection: 'close' }

export function createApi(url: string, token: string): Api {
  const base = `${url}/api/v1`
  const authorization = `Bearer ${token}`

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const sent = toSent(body)
    const all = { ...fresh, authorization, ...sent.headers, ...headers }
    const response = await fetch(base + path, { method, ...sent, headers: all })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const answer = isJson ? JSON.parse(text) : text
    checkAnswer(method, `/api/v1${path}`, response.status, answer)
    return { status: response.status, body: answer, headers: response.headers }
  }

  async function succeed(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await call(method, path, body)
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body.code}: ${answer.body.detail}`)
  }

  async function* events(path: string, options: { signal?: AbortSignal; lastEventId?: number } = {}) {
    const resume = options.lastEventId === undefined ? {} : { 'last-event-id': String(options.lastEventId) }
    const request = {
      headers: { authorization, ...resume },
      ...(options.signal ? { signal: options.signal } : {}),
    }
    const response = await fetch(base + path, request)
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    yield* parseEvents(response.body!)
  }

  return {
    url,
    call,
    get: (path) => succeed('GET', path),
    post: (path, body) => succeed('POST', path, body),
    patch: (path, body) => succeed('PATCH', path, body),
    events,
  }
}

/** Bytes are an archive, everything else is JSON. */
function toSent(body: unknown): { body?: string | Uint8Array; headers?: Record<string, string> } {
  if (body === undefined) return {}
  if (body instanceof Uint8Array) return { body, headers: { 'content-type': 'application/gzip' } }
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop()!
    for (const frame of frames) {
      const fields = new Map(frame.split('\n').map((line) => splitField(line)))
      const event = fields.get('event')
      if (event) yield { id: fields.get('id') ?? null, event, data: fields.get('data') ?? '' }
    }
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
