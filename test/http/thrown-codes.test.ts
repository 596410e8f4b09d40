// What handlers throw by name, against what the document says of their routes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '../../src/api/parts/problem-codes.ts'
import { codesOf } from '../../src/http/openapi/responses.ts'
import { routes } from '../../src/http/pipeline/routes.ts'
import { codesThrownBy, definersOf } from '../support/http/thrown-codes.ts'

const handlers = 'src/http/handlers'
const api = routes.filter(({ isPage }) => !isPage)

test('all codes that a handler throws, directly or indirectly, are in the document', () => {
  const missing = api.flatMap((route) => {
    const documented = new Set(codesOf(route))
    const thrown = definersOf(handlers, route.handler.name).flatMap((path) => [
      ...codesThrownBy(path, route.handler.name),
    ])
    const unsaid = thrown.filter((code) => kindOf(code) && !documented.has(code))
    return unsaid.map((code) => `${route.method} ${route.path} throws ${code}`)
  })

  assert.deepEqual(missing, [])
})

test('the analysis finds codes thrown three calls away, and covers nearly every route', () => {
  const found = api.filter(({ handler }) => definersOf(handlers, handler.name).length > 0)

  assert.ok(found.length > api.length - 5, `only ${found.length} of ${api.length} handlers are found`)
  assert.deepEqual([...codesThrownBy(`${handlers}/deploys.ts`, 'cancelDeploy')].sort(), [
    'not_cancelable',
    'not_found',
  ])
  assert.ok(codesThrownBy(`${handlers}/services.ts`, 'createService').has('conflict'))
})
