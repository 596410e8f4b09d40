// All responses of a route, derived from its declaration.
import { STATUS_CODES } from 'node:http'
import { ProblemDetails } from '../../api/parts/problem.ts'
import { kindOf } from '../../api/parts/problem-codes.ts'
import { statusOf } from '../pipeline/problem.ts'
import type { Route } from '../pipeline/route.ts'
import { type Components, fieldsOf, type Json, schemaOf } from './schema.ts'

export function responsesOf(route: Route, components: Components): Json {
  const content = contentOf(route, components)
  const success = (description: string) => ({
    description,
    headers: headersNamed(...successHeaders(route)),
    ...(content ? { content } : {}),
  })
  const others = Object.entries(route.otherStatuses ?? {})
  return {
    [route.status]: success(STATUS_CODES[route.status]!),
    ...Object.fromEntries(others.map(([status, description]) => [status, success(description)])),
    ...problemsOf(route, components),
    // No operation returns it: every other method of the path gets it.
    405: sharedProblem(['method_not_allowed'], components),
  }
}

export function isIdempotent({ method, acceptsIdempotencyKey }: Route): boolean {
  return method === 'POST' && acceptsIdempotencyKey !== false
}

function hasPages({ query }: Route): boolean {
  return query !== undefined && 'before' in fieldsOf(query).properties
}

function contentOf({ response, events }: Route, components: Components): Json | null {
  if (response === undefined || response === 'socket') return null
  if (response === 'text') return { 'text/plain': { schema: { type: 'string' } } }
  if (response === 'bytes') return { 'application/octet-stream': {} }
  if (response === 'stream') return { 'text/event-stream': { schema: streamOf(events, components) } }
  return { 'application/json': { schema: schemaOf(response, 'output', components) } }
}

/** OpenAPI 3.1 cannot describe the events of a stream, so this uses JSON Schema's `contentSchema`. */
function streamOf(events: Route['events'], components: Components): Json {
  const contentSchema = schemaOf(events!, 'output', components)
  return { type: 'string', contentMediaType: 'text/event-stream', contentSchema }
}

function successHeaders(route: Route): string[] {
  return [
    ...(isIdempotent(route) && route.response ? ['Idempotency-Replayed'] : []),
    ...(route.response === 'bytes' ? ['Content-Disposition'] : []),
    ...(route.setsCookie ? ['Set-Cookie'] : []),
    ...(hasPages(route) ? ['Link'] : []),
  ]
}

function problemsOf(route: Route, components: Components): Json {
  const byStatus: Record<string, string[]> = {}
  for (const code of [...new Set(codesOf(route))].sort()) {
    for (const status of [statusOf(code), kindOf(code)?.otherStatus ?? []].flat())
      byStatus[status] = [...(byStatus[status] ?? []), code]
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [status, sharedProblem(codes, components)]),
  )
}

/** One response for each set of codes: most routes have the same ones. */
function sharedProblem(codes: readonly string[], components: Components): Json {
  const name = codes.join('.')
  components.responses[name] ??= {
    description: codes.map((code) => `- \`${code}\`: ${kindOf(code)?.meaning}`).join('\n'),
    headers: headersNamed(...problemHeaders(codes)),
    content: { 'application/problem+json': { schema: schemaOf(ProblemDetails, 'output', components) } },
  }
  return { $ref: `#/components/responses/${name}` }
}

function problemHeaders(codes: readonly string[]): string[] {
  const waits = codes.some((code) => [429, 503].includes(statusOf(code)))
  return [
    ...(codes.includes('method_not_allowed') ? ['Allow'] : []),
    ...(codes.includes('unauthorized') ? ['WWW-Authenticate'] : []),
    ...(waits ? ['Retry-After'] : []),
  ]
}

/** All error codes of a route: its own, and those that its declaration implies. */
export function codesOf(route: Route): string[] {
  const codes = ['internal_error', 'invalid_request', ...(route.problems ?? [])]
  if (route.credential !== 'public') codes.push('unauthorized')
  if (route.credential === 'session') codes.push('session_required')
  if (route.credential === 'any' && !isForEveryToken(route)) codes.push('insufficient_role')
  if (route.checksOrigin || route.credential !== 'public') codes.push('cross_site_request')
  if (route.params) codes.push('not_found')
  // A POST without fields still validates a body if the client sends one.
  const readsBody = route.body || route.upload || route.method === 'POST'
  if (!route.upload) codes.push('length_required')
  if (readsBody) codes.push('payload_too_large', 'unsupported_media_type')
  // A change fails when the disk is full, or when the server stops before the commit.
  if (route.method !== 'GET') codes.push('insufficient_storage', 'unavailable')
  // For an Idempotency-Key that was used for a different request.
  if (isIdempotent(route)) codes.push('conflict')
  return codes
}

function isForEveryToken({ role, scope }: Route): boolean {
  return role === 'read' && (scope === 'server' || scope === 'filtered')
}

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
