// Requests to the API of the server that served this page. The session is a cookie.

export interface Problem {
  code: string
  detail: string
  hint: string | null
  status: number
  requestId: string | null
}

/** A response with an error, or none at all (`status` 0). */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Throws `ApiError`. `Result` is the schema that the API documents for this path. */
export async function call<Result>(method: Method, path: string, body?: unknown): Promise<Result> {
  const response = await send(method, path, body)
  const text = await response.text()
  if (!response.ok) throw new ApiError(toProblem(response, text))
  return (text === '' ? undefined : JSON.parse(text)) as Result
}

async function send(method: Method, path: string, body: unknown): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (method === 'POST') headers['idempotency-key'] = newKey()
  try {
    return await fetch(`/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
  } catch {
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
    const {
      code,
      detail,
      hint = null,
    } = JSON.parse(text) as Pick<Problem, 'code' | 'detail'> & { hint?: string }
    return { code, detail, hint, status: response.status, requestId }
  } catch {
    const detail = `the server responded with ${response.status}`
    return { code: 'unknown', detail, hint: null, status: response.status, requestId }
  }
}

/** Without `crypto.randomUUID`, which plain http pages do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
