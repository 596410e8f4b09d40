// The OpenAPI 3.1 document, generated from the route table. A schema with an `id` becomes a component.
import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { kindOf, ProblemDetails } from '../../api/parts/problem-codes.ts'
import { maxInlineBytes } from '../../readers/json.ts'
import { statusOf } from '../pipeline/problem.ts'
import type { Route } from '../pipeline/route.ts'
import { bodyLimitOf } from '../pipeline/validation.ts'
import { guide, securitySchemes, tagMeanings } from './guide.ts'

type Paths = Record<string, Record<string, Json>>

export interface OpenApiDocument extends Json {
  paths: Paths
  /** WebSocket routes, in the format of `paths`. */
  'x-websockets': Paths
  components: Components & { securitySchemes: Json; headers: Json }
}

export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const components: Components = { schemas: {}, responses: {} }
  const api = routes.filter(({ isPage }) => !isPage)
  const tags = [...new Set(api.map(({ tag }) => tag))]
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Berth',
      version,
      summary: 'A self-hosted deployment server.',
      description: guide,
      contact: { name: 'The administrator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that this document comes from.' }],
    tags: tags.map((name) => ({ name, description: tagMeanings[name] })),
    paths: pathsOf(
      api.filter(({ response }) => response !== 'socket'),
      components,
    ),
    'x-websockets': pathsOf(
      api.filter(({ response }) => response === 'socket'),
      components,
    ),
    components: { ...components, securitySchemes, headers },
  }
}

function pathsOf(routes: readonly Route[], components: Components): Paths {
  const paths: Paths = {}
  for (const one of routes) {
    paths[one.path] ??= {}
    paths[one.path]![one.method.toLowerCase()] = operationOf(one, components)
  }
  return paths
}

function operationOf(one: Route, components: Components): Json {
  const parameters = [
    ...parametersOf(one.params, 'path'),
    ...parametersOf(one.query, 'query'),
    ...headersOf(one),
  ]
  return {
    operationId: operationIdOf(one),
    tags: [one.tag],
    summary: one.summary,
    description: descriptionOf(one),
    security: securityOf(one),
    ...(one.credential === 'any' ? { 'x-required-role': one.role } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(one.body ? { requestBody: bodyOf(one.body, components) } : {}),
    ...(one.upload ? { requestBody: uploadOf(one.upload) } : {}),
    responses: responsesOf(one, components),
  }
}

function securityOf({ credential }: Route): Json[] {
  if (credential === 'public') return []
  return credential === 'session' ? [{ session: [] }] : [{ token: [] }, { session: [] }]
}

/** The route's own description, followed by what its declaration implies. */
function descriptionOf(one: Route): string {
  const parts = [
    one.description ?? `${one.summary}.`,
    credentialOf(one),
    ...(isIdempotent(one)
      ? ['A request with the same `Idempotency-Key` gets the first response again.']
      : []),
  ]
  return parts.join('\n\n')
}

function credentialOf({ credential, role, scope, checksOrigin }: Route): string {
  if (credential === 'public') {
    return checksOrigin
      ? 'Needs no credential. Rejects browsers on a page of another site.'
      : 'Needs no credential, and ignores any.'
  }
  if (credential === 'session') return 'Needs a browser session.'
  const roles = `Needs a session, or a token with the role \`${role}\`${role === 'admin' ? '' : ' or above'}.`
  return scope === undefined ? `${roles} Not available to tokens that are limited to services.` : roles
}

/** `get_services_id_env`: unique because method and path are. Every id is `id`: clients know these names. */
function operationIdOf({ method, path }: Route): string {
  const parts =
    path
      .replace('/api/v1', '')
      .replace(/\{\w+_id\}/, '{id}')
      .match(/\w+/g) ?? []
  return [method.toLowerCase(), ...parts].join('_')
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return []
  const { properties, required } = fieldsOf(schema)
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }
  })
}

function headersOf(route: Route): Json[] {
  const header = (name: string, description: string, schema: Json) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  })
  if (isIdempotent(route)) {
    const meaning = 'A repeated request gets the first response, for a day; a different request is a 409.'
    return [header('Idempotency-Key', meaning, { type: 'string', minLength: 1, maxLength: 200 })]
  }
  const meaning = 'The `id` of the last received event; the stream continues after it.'
  return route.response === 'stream' ? [header('Last-Event-ID', meaning, { type: 'string' })] : []
}

function bodyOf(body: z.ZodType, components: Components): Json {
  const schema = schemaOf(body, 'input', components)
  const example = exampleOf(schema)
  const content = { 'application/json': { schema, ...(example ? { example } : {}) } }
  return { required: !body.safeParse({}).success, content }
}

/** Bytes as they are have no schema in OpenAPI 3.1. */
function uploadOf({ mediaTypes, description }: NonNullable<Route['upload']>): Json {
  return { required: true, description, content: Object.fromEntries(mediaTypes.map((type) => [type, {}])) }
}

const deployId = 'dep-01jd2x9v6m3q8w4k7r5t1y0z2a'
const backupId = 'bak-01jd2x9v6m3q8w4k7r5t1y0z2b'
const password = 'correct horse battery staple'

const examples: Readonly<Record<string, Json>> = {
  Setup: { code: 'the code that the server printed', email: 'admin@example.com', password },
  Login: { email: 'admin@example.com', password },
  ChangePassword: { current_password: password, new_password: 'another long password', revoke_tokens: true },
  CreateToken: { name: 'CI', role: 'deploy', services: ['web'], expires_in_days: 90 },
  StartTerminalLogin: { name: 'laptop' },
  ApproveTerminalLogin: { role: 'deploy', expires_in_days: 90 },
  PollTerminalLogin: { secret: 'the secret from the start of the login' },
  CreateService: {
    name: 'web',
    type: 'web_service',
    repo_url: 'https://example.com/web.git',
    branch: 'main',
    health_check_path: '/health',
    env: [{ key: 'LOG_LEVEL', value: 'info' }],
  },
  UpdateAlertRule: { subject: 'web', threshold: 95 },
  UpdateService: { branch: 'release', instances: 2 },
  ScaleService: { instances: 3 },
  Rollback: { deploy_id: deployId },
  AddDomain: { domain: 'shop.example.com' },
  UpgradeDatastore: { version: '18' },
  ChownDisk: { owner: '1000:1000' },
  CreateDeployKey: { rotate: true },
  EdgeUpgrade: { force: true },
  ReplaceEnv: { vars: [{ key: 'GREETING', value: 'hi' }] },
  ChangeEnv: { set: [{ key: 'GREETING', value: 'hi' }], unset: ['OLD'] },
  CreateDeploy: { commit: '3f2a9c1', clear_cache: true },
  CreateJob: { command: 'npm run migrate', timeout_seconds: 600 },
  CreateDatastore: { kind: 'postgres', name: 'orders', backup_schedule: '0 3 * * *', backup_keep: 14 },
  UpdateDatastore: { memory_limit_mb: 1024, cpu_limit: 2 },
  CreateRestore: { backup_id: backupId },
  PutBackupPlace: {
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    bucket: 'shop-backups',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'the secret of the key',
  },
  CreateServerBackup: { datastores: true, disks: true },
  CreateNotificationChannel: { name: 'ops', kind: 'webhook', url: 'https://ops.example.com/berth' },
  UpdateNotificationChannel: { min_severity: 'problem' },
  PutRegistry: { username: 'ci', password: 'a token of the registry' },
  AuthorizeGit: { provider: 'github', redirect_uri: 'https://berth.example.com/git/callback' },
  TestWatchPaths: { paths: ['services/api/main.ts'], watch_paths: ['services/api/**'] },
  CompleteGit: { state: 'the state', code: 'the code' },
  ConnectGit: { provider: 'gitlab', token: 'glpat-0123456789', base_url: 'https://gitlab.example.com' },
  UpdateGit: { report_deploys: true },
  RestoreTrash: { name: 'orders-again' },
}

function exampleOf({ $ref }: Json): Json | undefined {
  return examples[String($ref).replace('#/components/schemas/', '')]
}

type Json = Record<string, unknown>

interface Components {
  schemas: Record<string, Json>
  responses: Record<string, Json>
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output', { schemas }: Components): Json {
  // Wrapped, because zod does not convert a top-level schema to a reference.
  const wrapped = toJson(z.object({ it: schema }), io)
  const moved = JSON.parse(JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [id, { id: _, ...definition }] of Object.entries<Json>(moved.$defs ?? {})) {
    schemas[id] = definition
  }
  return moved.properties.it
}

function fieldsOf(schema: z.ZodType): { properties: Record<string, Json>; required: string[] } {
  const { properties = {}, required = [] } = toJson(schema, 'input')
  return { properties: properties as Record<string, Json>, required: required as string[] }
}

function toJson(schema: z.ZodType, io: 'input' | 'output'): Json {
  return z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => dropRedundantBounds(jsonSchema as Json),
  }) as Json
}

/** Removes bounds and patterns that `type` and `format` imply, and Unicode patterns, which few tools read. */
function dropRedundantBounds(schema: Json): void {
  if (schema.format === 'date-time' || /\\p\{/i.test(String(schema.pattern))) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

function responsesOf(route: Route, components: Components): Json {
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

function isIdempotent({ method, acceptsIdempotencyKey }: Route): boolean {
  return method === 'POST' && acceptsIdempotencyKey !== false
}

function hasPages({ query }: Route): boolean {
  return query !== undefined && 'before' in fieldsOf(query).properties
}

function contentOf({ response, events, isAlsoText }: Route, components: Components): Json | null {
  if (response === undefined || response === 'socket') return null
  const text = { 'text/plain': { schema: { type: 'string' } } }
  if (response === 'text') return text
  if (response === 'bytes') return { 'application/octet-stream': {} }
  if (response === 'stream')
    return { 'text/event-stream': { schema: streamOf(events, components) }, ...(isAlsoText && text) }
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
  const readsBody = route.body || route.upload || (route.method === 'POST' && !route.ignoresBody)
  codes.push('payload_too_large')
  if (route.body && bodyLimitOf(route) > maxInlineBytes) codes.push('too_complex')
  if (!route.upload) codes.push('length_required')
  if (readsBody) codes.push('slow_down', 'unsupported_media_type')
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

const headers: Record<string, Json> = {
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

function headersNamed(...names: string[]): Json {
  const all = ['Berth-Version', 'X-Request-Id', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
