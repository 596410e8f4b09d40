// The route table and its document.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { startApi } from '../../support/http/http-context.ts'
import { createAjv, document, type Response, served } from '../../support/http/openapi.ts'

test('the document contains every route except the pages, and nothing else', () => {
  const api = routes.filter(({ isPage }) => !isPage)
  const served = api.map(({ method, path }) => `${method} ${path}`).sort()
  const described = Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .sort()

  assert.deepEqual(described, served)
})

test('every schema of the document is valid JSON Schema 2020-12', () => {
  const ajv = createAjv()
  const schemas = [...schemasIn(document)]

  assert.ok(schemas.length > 60, `only ${schemas.length} schemas found`)
  for (const pointer of schemas)
    assert.doesNotThrow(() => ajv.getSchema(`https://berth.test/openapi.json#${pointer}`))
})

test('operation ids are unique, and each operation has a heading and a summary', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const ids = operations.map(({ operationId }) => operationId)

  assert.equal(new Set(ids).size, ids.length)
  // Generated clients call them so: a parameter may get a better name, an operation may not.
  for (const id of ['get_deploys_id_logs', 'post_jobs_id_cancel']) assert.ok(ids.includes(id), id)
  for (const { tags, summary } of operations) assert.ok(String(tags).length > 0 && String(summary).length > 0)
})

test('the server serves the document, with its own cookie name', async (t) => {
  const api = await startApi(t)

  const { status, body } = await api.call('GET', '/api/v1/openapi.json', { token: null })

  const { port } = new URL(api.url)
  assert.equal(status, 200)
  assert.deepEqual(body, JSON.parse(JSON.stringify(served).replace('<port>', port)))
  assert.match(JSON.stringify(body.components), new RegExp(`"svc_session_${port}"`))
})

test('anyone gets the document compressed, in the same bytes each time', async (t) => {
  const api = await startApi(t)
  // Not by fetch, which unpacks.
  const read = async (encoding: string) => {
    const headers = { 'accept-encoding': encoding }
    const [response] = (await once(get(`${api.url}/api/v1/openapi.json`, { headers }), 'response')) as [
      IncomingMessage,
    ]
    return { encoding: response.headers['content-encoding'], bytes: await buffer(response) }
  }

  const [first, second, plain] = [await read('gzip'), await read('gzip'), await read('identity')]

  assert.deepEqual([first.encoding, plain.encoding], ['gzip', undefined])
  assert.deepEqual(first, second)
  assert.deepEqual(gunzipSync(first.bytes), plain.bytes)
  assert.ok(first.bytes.length * 5 < plain.bytes.length)
})

/** JSON pointers of all values under a key named `schema`, and of the components. */
function* schemasIn(value: unknown, pointer = ''): Iterable<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const here = `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`
    if (key === 'schema' || pointer === '/components/schemas') yield here
    yield* schemasIn(child, here)
  }
}

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

test('Spectral reports no problems in the document', async () => {
  assert.deepEqual(await spectralFindings(served), [])
})

test('Redocly reports no problems in the document', async () => {
  assert.deepEqual(await redoclyFindings(served), [])
})

async function spectralFindings(document: Json): Promise<string[]> {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({ extends: [[spectralRulesets.oas as RulesetDefinition, 'recommended']] })
  const findings = await spectral.run(JSON.parse(JSON.stringify(document)))
  return findings.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`)
}

async function redoclyFindings(document: Json): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const source = JSON.stringify(document)
  const findings = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return findings.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}
