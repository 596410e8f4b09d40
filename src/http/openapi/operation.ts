// One route as an operation of the document.
import type { z } from 'zod'
import type { Route } from '../pipeline/route.ts'
import { exampleOf } from './examples.ts'
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
