// A script-like client of the API: JSON, and server-sent events for logs.
// Checks every response against the OpenAPI document.
import { checkAnswer } from '../http/openapi.ts'

export interface Answer {
  status: number
  body: Body
  headers: Headers
}

/** Untyped, because the shape was already checked against the OpenAPI document. */
export type Body = ReturnType<typeof JSON.parse>

interface SseEvent {
  id: string | null
  event: string
  data: string
}

export interface Api {
  url: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Like `call`, but throws with the text of the problem unless the request succeeds. */
  get(path: string): Promise<Body>
  post(path: string, body?: unknown): Promise<Body>
  patch(path: string, body: unknown): Promise<Body>
  /** The events of a stream, until it ends or the signal aborts. */
  events(path: string, options?: { signal?: AbortSignal; lastEventId?: number }): AsyncGenerator<SseEvent>
}

/** A request on a reused connection fails if the server closes that connection at the same time. */
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

/** Sends bytes as an archive and everything else as JSON. */
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
