// The body limit of the routes of the account, and the cost of many unknown keys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Login } from '../../../src/api/access/account.ts'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { validate } from '../../../src/http/pipeline/validation.ts'
import { outcomeOf, startWithAccount } from '../../support/http/account.ts'
import { owner } from '../../support/http/session.ts'

const limitBytes = 16 * 1024
const isOfAccount = ({ path, method }: (typeof routes)[number]) => /\/auth\//.test(path) && method === 'POST'

test('every route of the account accepts at most 16 KiB', async (t) => {
  const { browser, signedOut } = await startWithAccount(t)

  const found = routes.filter(isOfAccount)
  assert.ok(found.length > 7)
  for (const { path, bodyLimitBytes } of found) assert.equal(bodyLimitBytes, limitBytes, path)
  for (const one of [browser, signedOut()]) {
    const large = { ...owner, password: 'x'.repeat(limitBytes) }
    const response = await one.call('POST', '/auth/login', large)
    assert.equal(outcomeOf(response), '413 payload_too_large')
    assert.match(response.body.detail, /at most 16 KiB$/)
  }
})

test('of many unknown keys the first one is named', async (t) => {
  const { browser } = await startWithAccount(t)

  const { body } = await browser.call('POST', '/auth/login', { ...owner, b: 1, a: 2, c: 3 })

  assert.deepEqual(body.errors, [{ path: 'b', code: 'unknown_key', message: 'is not a known key' }])
})

test('many unknown keys cost little more than parsing them', () => {
  const many = `{${Array.from({ length: 95_000 }, (_, index) => `"k${index}":1`).join(',')}}`
  const best = (work: () => unknown) => {
    const times = Array.from({ length: 5 }, () => {
      const startedAt = performance.now()
      work()
      return performance.now() - startedAt
    })
    return Math.min(...times)
  }
  const refuse = () => assert.throws(() => validate(Login, JSON.parse(many)), { code: 'invalid_request' })

  const [reading, refusing] = [best(() => JSON.parse(many)), best(refuse)]

  assert.ok(refusing < 3 * reading, `${refusing} ms instead of ${reading} ms`)
})
