// The headers of answers, declared once and referred to by each answer that has them.
import type { Json } from './schema.ts'

const text = { type: 'string' }
const header = (description: string, schema: Json = text): Json => ({ description, schema })

export const headers: Record<string, Json> = {
  Allow: header('The methods that the path takes.'),
  'Berth-Version': header('The version of the server. Every answer has it.'),
  'Content-Disposition': header('`attachment`, with a name for the file.'),
  'Idempotency-Replayed': header('Only on a repeated answer.', { const: 'true' }),
  Link: header('`<address>; rel="next"`: the next page. Without it this is the last one.'),
  'Retry-After': header('Seconds to wait before the next attempt.', { type: 'integer', minimum: 0 }),
  'Set-Cookie': header('Sets, replaces or clears a cookie of the browser.'),
  'WWW-Authenticate': header('The scheme that is expected.', { const: 'Bearer' }),
  'X-Request-Id': header('Names the request in the log of the server. Every answer has it.'),
}

/** References to the headers that every answer has, and to these. */
export function headersNamed(...names: string[]): Json {
  const all = ['Berth-Version', 'X-Request-Id', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
