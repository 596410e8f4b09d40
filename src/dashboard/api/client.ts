// Requests to the API of the server that served this page. The session is a cookie.

export interface Problem {
  code: string
  detail: string
  hint: string | null
  status: number
  requestId: string | null
  /** What is wrong with which field of the request. */
  errors?: { path: string; message: string }[]
}

/** A response with an error, or none at all (`status` 0). */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Options {
  body?: unknown
  signal?: AbortSignal
  /** The same key in a repeated POST: the server does it once. */
  key?: string
}

/** For a query: `queryFn: get<Service>('/services/…')`. It ends with the page that asked. */
export function get<Result>(path: string) {
  return ({ signal }: { signal?: AbortSignal } = {}) => request<Result>('GET', path, signal ? { signal } : {})
}

/** A page of a list. `before` leads to the next one; null for the last. */
export async function getPage<Item>(path: string, signal: AbortSignal) {
  const { text, headers } = await answerTo('GET', path, { signal })
  const before = /[?&]before=([^&>]+)/.exec(headers.get('link') ?? '')?.[1]
  return {
    items: JSON.parse(text) as Item[],
    before: before === undefined ? null : decodeURIComponent(before),
  }
}

export async function getText(path: string, signal: AbortSignal): Promise<string> {
  return (await answerTo('GET', path, { signal })).text
}

/** For an `Action`, which makes a key for each press and repeats a request that may not have arrived. */
export function send<Result>(method: Exclude<Method, 'GET'>, path: string, body?: unknown) {
  return (key: string) => request<Result>(method, path, method === 'POST' ? { body, key } : { body })
}

const signedOut = new Set<() => void>()

/** The session has ended: no request succeeds until the user signs in. */
export function onSignedOut(listener: () => void): void {
  signedOut.add(listener)
}

/** Throws `ApiError`. `Result` is the schema that the API documents for this path. */
async function request<Result>(method: Method, path: string, options: Options): Promise<Result> {
  const { text } = await answerTo(method, path, options)
  return (text === '' ? undefined : JSON.parse(text)) as Result
}

async function answerTo(method: Method, path: string, options: Options) {
  const response = await fetchFrom(method, path, options)
  const text = await response.text()
  if (response.status === 401) for (const listener of signedOut) listener()
  if (!response.ok) throw new ApiError(toProblem(response, text))
  return { text, headers: response.headers }
}

async function fetchFrom(method: Method, path: string, { body, key, signal }: Options): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (key !== undefined) headers['idempotency-key'] = key
  try {
    return await fetch(`/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError({
      code: 'unreachable',
      detail: 'the server did not respond',
      hint: null,
      status: 0,
      requestId: null,
    })
  }
}

function toProblem(response: Response, text: string): Problem {
  const requestId = response.headers.get('x-request-id')
  try {
    const known = JSON.parse(text) as Pick<Problem, 'code' | 'detail' | 'errors'> & { hint?: string }
    const { code, detail, hint = null, errors = [] } = known
    return { code, detail, hint, errors, status: response.status, requestId }
  } catch {
    const detail = `the server responded with ${response.status}`
    return { code: 'unknown', detail, hint: null, status: response.status, requestId }
  }
}

/** Without `crypto.randomUUID`, which plain http pages do not have. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
