// Response headers, declared once as components and referred to by each response.
import type { Json } from './schema.ts'

const text = { type: 'string' }
const header = (description: string, schema: Json = text): Json => ({ description, schema })

export const headers: Record<string, Json> = {
  Allow: header('The methods that the path supports.'),
  'Berth-Version': header('The version of the server; on every response.'),
  'Content-Disposition': header('`attachment`, with a file name.'),
  'Idempotency-Replayed': header('Only on a repeated response.', { const: 'true' }),
  Link: header('`<address>; rel="next"`: the next page. Missing on the last page.'),
  'Retry-After': header('Seconds to wait before the next attempt.', { type: 'integer', minimum: 0 }),
  'Set-Cookie': header('Sets, replaces or deletes a cookie.'),
  'WWW-Authenticate': header('The expected scheme.', { const: 'Bearer' }),
  'X-Request-Id': header('Id of the request in the log of the server; on every response.'),
}

/** References to the common headers and to the given ones. */
export function headersNamed(...names: string[]): Json {
  const all = ['Berth-Version', 'X-Request-Id', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
