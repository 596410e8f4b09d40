// What the OpenAPI document contains in addition to the validation rules: descriptions, examples, headers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { document, type Response } from '../../support/http/openapi.ts'

type Json = Record<string, unknown>

interface Operation {
  parameters?: { name: string; description?: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
}

interface Place {
  place: string
  description: unknown
}

test('every schema, field and parameter has a description', () => {
  const places = [...placesIn(document.components.schemas)]
  const silent = places.filter(({ description }) => !description).map(({ place }) => place)
  const parameters = operations().flatMap(([name, { parameters = [] }]) =>
    parameters.filter(({ description }) => !description).map((one) => `${name} ${one.name}`),
  )

  assert.ok(places.length > 400, `only ${places.length} schemas and fields found`)
  assert.deepEqual([...silent, ...parameters], [])
})

test('every JSON body has an example that the server accepts', () => {
  for (const { method, path, body } of routes.filter((route) => route.body && !route.isPage)) {
    const { requestBody } = document.paths[path]![method.toLowerCase()] as Operation
    const { example } = requestBody!.content['application/json']!

    assert.ok(example, `${method} ${path} has no example`)
    assert.deepEqual(body!.safeParse(example).error?.issues, undefined, `${method} ${path}`)
  }
})

test('Retry-After, WWW-Authenticate, Allow and Set-Cookie are documented where they can occur', () => {
  const responses = Object.entries(document.components.responses as Record<string, Response>)
  const naming = (header: string) =>
    responses.filter(([, { headers = {} }]) => header in headers).map(([name]) => name)
  const cookies = operations().filter(([, operation]) =>
    JSON.stringify(operation).includes('/headers/Set-Cookie'),
  )

  assert.deepEqual(naming('Allow'), ['method_not_allowed'])
  for (const name of naming('WWW-Authenticate')) assert.match(name, /unauthorized/)
  for (const name of naming('Retry-After')) assert.match(name, /unavailable|slow_down|too_many_attempts/)
  for (const [name, { headers = {} }] of responses) assert.ok('X-Request-Id' in headers, name)
  assert.deepEqual(
    cookies.map(([name]) => name),
    [
      'POST /api/v1/auth/setup',
      'POST /api/v1/auth/login',
      'POST /api/v1/auth/logout',
      'POST /api/v1/auth/password',
      'DELETE /api/v1/auth/sessions/{id}',
    ],
  )
})

function operations(): [string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation as Operation,
    ]),
  )
}

function* placesIn(schemas: Record<string, Json>): Iterable<Place> {
  for (const [place, schema] of Object.entries(schemas)) {
    yield { place, description: schema.description }
    yield* fieldsIn(schema, place)
  }
}

function* fieldsIn(schema: Json, place: string): Iterable<Place> {
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, Json>)) {
    yield { place: `${place}.${name}`, description: property.description }
    yield* fieldsIn(property, `${place}.${name}`)
  }
  for (const inner of [schema.items, schema.anyOf, schema.oneOf].flat())
    if (inner) yield* fieldsIn(inner as Json, place)
}
