// What routes throw by name, against what the document says of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '../../src/api/parts/problem-codes.ts'
import { codesOf } from '../../src/http/openapi/document.ts'
import { routes } from '../../src/http/pipeline/routes.ts'
import { codesByRoute } from '../support/http/thrown-codes.ts'

const api = routes.filter(({ isPage }) => !isPage)
const thrown = codesByRoute('src/http/routes')

test('all codes that a route throws, directly or indirectly, are in the document', () => {
  const missing = api.flatMap((route) => {
    const documented = new Set(codesOf(route))
    const codes = [...(thrown.get(`${route.method} ${route.path}`) ?? [])]
    const unsaid = codes.filter((code) => kindOf(code) && !documented.has(code))
    return unsaid.map((code) => `${route.method} ${route.path} throws ${code}`)
  })

  assert.deepEqual(missing, [])
})

test('the analysis finds codes thrown three calls away, and covers nearly every route', () => {
  const found = api.filter(({ method, path }) => thrown.has(`${method} ${path}`))

  assert.ok(found.length > api.length - 5, `only ${found.length} of ${api.length} routes are found`)
  const cancellation = thrown.get('POST /api/v1/deploys/{deploy_id}/cancel')
  assert.deepEqual([...cancellation!].sort(), ['not_cancelable', 'not_found'])
  assert.ok(thrown.get('POST /api/v1/services')!.has('conflict'))
})
