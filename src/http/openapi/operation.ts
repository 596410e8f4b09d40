// One route as an operation of the document.
import type { z } from 'zod'
import type { Route } from '../pipeline/route.ts'
import { isIdempotent, responsesOf } from './responses.ts'
import { type Components, fieldsOf, type Json, schemaOf } from './schema.ts'

export function operationOf(one: Route, components: Components): Json {
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
  UpdateService: { branch: 'release', instances: 2 },
  ScaleService: { instances: 3 },
  Rollback: { deploy_id: deployId },
  AddDomain: { domain: 'shop.example.com' },
  UpgradeDatastore: { version: '18' },
  ChownDisk: { owner: '1000:1000' },
  EdgeUpgrade: { force: true },
  ReplaceEnv: { vars: [{ key: 'GREETING', value: 'hi' }] },
  ChangeEnv: { set: [{ key: 'GREETING', value: 'hi' }], unset: ['OLD'] },
  CreateDeploy: { commit: '3f2a9c1', clear_cache: true },
  CreateJob: { command: 'npm run migrate', timeout_seconds: 600 },
  CreateDatastore: { kind: 'postgres', name: 'orders', backup_schedule: '0 3 * * *', backup_keep: 14 },
  UpdateDatastore: { memory_limit_mb: 1024, cpu_limit: 2 },
  CreateRestore: { backup_id: backupId },
  PutRegistry: { username: 'ci', password: 'a token of the registry' },
  AuthorizeGit: { provider: 'github', redirect_uri: 'https://berth.example.com/git/callback' },
  CompleteGit: { state: 'the state', code: 'the code' },
  ConnectGit: { provider: 'gitlab', token: 'glpat-0123456789', base_url: 'https://gitlab.example.com' },
  RestoreTrash: { name: 'orders-again' },
}

export function exampleOf({ $ref }: Json): Json | undefined {
  return examples[String($ref).replace('#/components/schemas/', '')]
}
