// The route table and its document.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownCodes } from '../../../src/api/parts/problem-codes.ts'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { startApi } from '../../support/http/http-context.ts'
import { createAjv, document, served } from '../../support/http/openapi.ts'

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

test('only health, the document itself and the sign-in routes need no credential', () => {
  const open = routes.filter(({ credential }) => credential === 'public').map(({ path }) => path)

  const waysIn = ['status', 'setup', 'login', 'logout', 'cli', 'cli/{id}/token']
  const known = ['/healthz', '/api/v1/openapi.json', ...waysIn.map((way) => `/api/v1/auth/${way}`)]
  assert.deepEqual(
    open.filter((path) => document.paths[path]),
    known,
  )
  assert.deepEqual(Object.keys(document.components.securitySchemes), ['token', 'session'])
})

test('the server serves the document, with its own cookie name', async (t) => {
  const api = await startApi(t)

  const { status, body } = await api.call('GET', '/api/v1/openapi.json', { token: null })

  const { port } = new URL(api.url)
  assert.equal(status, 200)
  assert.deepEqual(body, JSON.parse(JSON.stringify(served).replace('<port>', port)))
  assert.match(JSON.stringify(body.components), new RegExp(`"svc_session_${port}"`))
})

test('every code of a route is a valid problem code', () => {
  const codes = new Set(routes.flatMap(({ problems = [] }) => problems))

  assert.deepEqual(
    [...codes].filter((code) => !(knownCodes as string[]).includes(code)),
    [],
  )
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
