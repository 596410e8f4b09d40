// Tests that the judge of the fuzz run detects every kind of fault, and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeAnswer } from './judge.ts'
import { createSecrets } from './secrets.ts'

const requestId = 'abc-1'
const json = { 'content-type': 'application/json', 'x-request-id': requestId }
const problem = { 'content-type': 'application/problem+json', 'x-request-id': requestId }

function words(
  target: string,
  status: number,
  body: unknown,
  headers: Record<string, string>,
  method = 'GET',
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = { status, text, headers: new Map(Object.entries(headers)) }
  const secrets = createSecrets()
  const inside = JSON.stringify(secrets.at('env')).slice(1, -1)
  const filled = { ...response, text: text.replaceAll('SECRET', () => inside) }
  return judgeAnswer({ method, target, answer: filled, isWhole: true }, filled, secrets)
}

function refusal(status: number, code: string, more: object = {}) {
  const common = { type: 'about:blank', title: 'No', detail: 'no', request_id: requestId }
  return { ...common, status, code, ...more }
}

test('documented behaviour is not a fault', () => {
  const path = '/api/v1/services/web/env'
  assert.equal(words(path, 200, [{ key: 'A', value: 'SECRET' }], json), null)
  assert.equal(words(path, 404, refusal(404, 'not_found'), problem), null)
  assert.equal(words('/api/v1/nothing', 404, refusal(404, 'not_found'), problem), null)
  assert.equal(words('/api/v1/services/web/status', 503, refusal(503, 'docker_unavailable'), problem), null)
  assert.equal(words('', 505, '<h1>no</h1>', {}), null)
  const content = '/api/v1/backups/b/content'
  assert.equal(words(content, 405, refusal(405, 'method_not_allowed'), problem, 'HEAD'), null)
})

test('a secret outside of the value of a variable is a fault, in any encoding', () => {
  const path = '/api/v1/services/web/env'
  assert.match(words(path, 200, [{ key: 'SECRET', value: 'a' }], json)!, /gives away a secret/)
  assert.match(
    words(path, 400, refusal(400, 'invalid_request', { detail: 'SECRET' }), problem)!,
    /gives away/,
  )
  assert.match(words('/api/v1/info', 200, 'SECRET', json)!, /gives away/)
  const secrets = createSecrets()
  const marker = secrets.at('x').split('-')[0]!
  for (const encoding of ['base64', 'base64url', 'hex'] as const) {
    assert.equal(secrets.findIn(Buffer.from(`user:${marker}:more`).toString(encoding)), 'a secret', encoding)
  }
  assert.equal(secrets.findIn(encodeURIComponent(secrets.at('x'))), 'a secret')
  assert.equal(secrets.findIn('nothing of it'), null)
})

test('an undocumented response is a fault', () => {
  assert.match(words('/api/v1/services', 418, refusal(418, 'tea'), problem)!, /may not answer 418/)
  assert.match(words('/api/v1/services', 200, [{ id: 1 }], json)!, /GET \/api\/v1\/services 200/)
  assert.match(words('/api/v1/nothing', 200, {}, json)!, /is nothing, and was answered 200/)
  assert.match(words('/api/v1/services', 204, '', json, 'PUT')!, /is nothing/)
})

test('an internal error, and a malformed problem, is a fault', () => {
  assert.match(words('/api/v1/services', 500, refusal(500, 'internal_error'), problem)!, /^500 /)
  assert.match(words('/api/v1/services', 502, refusal(502, 'bad_gateway'), problem)!, /^502 /)
  assert.match(words('/api/v1/services', 400, refusal(400, 'x'), json)!, /is not a problem document/)
  assert.match(words('/api/v1/services', 400, refusal(409, 'x'), problem)!, /contains the status 409/)
  const other = refusal(400, 'x', { request_id: 'other' })
  assert.match(words('/api/v1/services', 400, other, problem)!, /another request_id/)
  assert.match(words('', 502, '', {})!, /502 is not ours/)
})
