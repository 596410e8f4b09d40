// The OpenAPI 3.1 document, made from the route table: it cannot say anything else than what is served.
// Mind: a schema gets a place under components by its `id`; without one it is written out where it is used.
import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { statusOf } from './problem.ts'
import type { Route } from './route.ts'
import { ProblemDetails } from './schemas/problem.ts'

type Json = Record<string, unknown>

export interface OpenApiDocument extends Json {
  paths: Record<string, Record<string, Json>>
  components: { schemas: Record<string, Json>; securitySchemes: Json }
}

/** The document for a route table; pages are for people, and not in it. */
export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const schemas: Record<string, Json> = {}
  const paths: OpenApiDocument['paths'] = {}
  for (const one of routes.filter(({ isPage }) => !isPage)) {
    paths[one.path] ??= {}
    paths[one.path]![one.method.toLowerCase()] = operationOf(one, schemas)
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: 'Berth', version, description: 'A self-hosted deployment server.' },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API token; GET takes `access_token` in the query too. `security` names the least role: ' +
            '`read`, `deploy` or `admin`. A token limited to services may use only what is theirs.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'svc_session_<port>',
          description: 'The dashboard session.',
        },
      },
    },
  }
}

function operationOf(one: Route, schemas: Record<string, Json>): Json {
  const parameters = [
    ...parametersOf(one.params, 'path'),
    ...parametersOf(one.query, 'query'),
    ...headersOf(one),
  ]
  return {
    operationId: operationIdOf(one),
    tags: [one.tag],
    summary: one.summary,
    security: securityOf(one),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(one.body ? { requestBody: bodyOf(one.body, schemas) } : {}),
    ...(one.upload ? { requestBody: uploadOf(one.upload) } : {}),
    responses: { [one.status]: successOf(one, schemas), ...problemsOf(one, schemas) },
  }
}

/** OpenAPI 3.1 allows names of roles here: the least role of a token. */
function securityOf({ credential, role }: Route): Json[] {
  if (credential === 'public') return []
  return credential === 'session' ? [{ session: [] }] : [{ token: [role] }, { session: [] }]
}

/** `get_services_id_env`: unique because method and path are. */
function operationIdOf({ method, path }: Route): string {
  const words = path.replace('/api/v1', '').match(/\w+/g) ?? []
  return [method.toLowerCase(), ...words].join('_')
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as Json
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }
  })
}

function headersOf({ method, answer, isRepeatable }: Route): Json[] {
  const header = (name: string, schema: Json) => ({ name, in: 'header', required: false, schema })
  if (method === 'POST' && isRepeatable !== false) {
    const key = header('Idempotency-Key', { type: 'string', minLength: 1, maxLength: 200 })
    return [{ ...key, description: 'A repetition gets the first answer, for a day; another request is 409.' }]
  }
  return answer === 'stream' ? [header('Last-Event-ID', { type: 'string' })] : []
}

function bodyOf(body: z.ZodType, schemas: Record<string, Json>): Json {
  const isOptional = body.safeParse({}).success
  return {
    required: !isOptional,
    content: { 'application/json': { schema: schemaOf(body, 'input', schemas) } },
  }
}

/** Bytes as they are have no schema in OpenAPI 3.1. */
function uploadOf({ mediaTypes, description }: NonNullable<Route['upload']>): Json {
  return { required: true, description, content: Object.fromEntries(mediaTypes.map((type) => [type, {}])) }
}

/** Tells the answer to a repetition from the first one, which goes without it. */
const repeatedHeader = {
  'Idempotency-Replayed': { description: 'Only on a repeated answer.', schema: { const: 'true' } },
}

function successOf({ answer, method, status, isRepeatable }: Route, schemas: Record<string, Json>): Json {
  const description = STATUS_CODES[status]!
  if (answer === undefined || answer === 'socket') return { description }
  if (answer === 'text') return { description, content: { 'text/plain': { schema: { type: 'string' } } } }
  if (answer === 'bytes') return { description, content: { 'application/octet-stream': {} } }
  if (answer === 'stream')
    return { description, content: { 'text/event-stream': { schema: { type: 'string' } } } }
  const content = { 'application/json': { schema: schemaOf(answer, 'output', schemas) } }
  return {
    description,
    ...(method === 'POST' && isRepeatable !== false ? { headers: repeatedHeader } : {}),
    content,
  }
}

/** The codes a route can answer with, by status. */
function problemsOf(one: Route, schemas: Record<string, Json>): Json {
  const codes = ['internal_error', 'invalid_request', ...(one.problems ?? [])]
  if (one.credential !== 'public') codes.push('unauthorized')
  if (one.credential === 'session') codes.push('session_required')
  if (one.credential === 'any' && !isForEveryToken(one)) codes.push('insufficient_role')
  const isToBeOwn = one.method !== 'GET' || one.answer === 'socket'
  if (one.isGuarded || (one.credential !== 'public' && isToBeOwn)) codes.push('cross_site_request')
  if (one.params) codes.push('not_found')
  // A POST that takes no fields still looks into the body that somebody sends along.
  const readsBody = one.body || one.upload || one.method === 'POST'
  if (!one.upload) codes.push('length_required')
  if (readsBody) codes.push('payload_too_large', 'unsupported_media_type')
  if (one.method !== 'GET') codes.push('insufficient_storage')
  // Of a key that was used for another request.
  const isRepeatable = one.method === 'POST' && one.isRepeatable !== false
  if (isRepeatable && !codes.includes('conflict')) codes.push('conflict')
  const byStatus: Record<string, string[]> = {}
  for (const code of codes) byStatus[statusOf(code)] = [...(byStatus[statusOf(code)] ?? []), code]
  const schema = schemaOf(ProblemDetails, 'output', schemas)
  const content = { 'application/problem+json': { schema } }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, here]) => [status, { description: here.join(', '), content }]),
  )
}

function isForEveryToken({ role, scope }: Route): boolean {
  return role === 'read' && (scope === 'server' || scope === 'filtered')
}

/** The JSON Schema of a zod schema; the ones with a name become components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): Json {
  // Wrapped, because a schema at the top is never turned into a reference.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), { io })
  const moved = JSON.parse(JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [id, { id: _, ...definition }] of Object.entries<Json>(moved.$defs ?? {}))
    schemas[id] = definition
  return moved.properties.it
}
