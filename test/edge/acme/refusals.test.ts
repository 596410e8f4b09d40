// The ACME client against servers that refuse, fail, or are not a CA: one failure with a code and a message.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AcmeFailure } from '../../../src/edge/acme/failure.ts'
import { issueCertificate } from '../../../src/edge/acme/order.ts'
import { createAccountKey } from '../../../src/edge/acme/session.ts'
import type { FakeResponse, ReceivedRequest } from '../../support/cli/fake-server.ts'
import { acmeProblem, startFaultyCa } from '../../support/edge/faulty-ca.ts'

const key = await createAccountKey()

const nothing = async () => undefined

/** What becomes of an order there. */
async function failureAt(
  directoryUrl: string,
  signal = AbortSignal.timeout(60_000),
  { put = nothing, drop = nothing }: { put?: () => Promise<void>; drop?: () => Promise<void> } = {},
): Promise<AcmeFailure> {
  const wanted = {
    account: { directoryUrl, email: 'ada@example.com', key },
    host: 'shop.example.com',
    challenges: { type: 'http-01' as const, put, drop },
    pending: null,
    onPending: () => undefined,
  }
  return issueCertificate(wanted, signal).then(
    () => assert.fail('a certificate came'),
    (error: unknown) => error as AcmeFailure,
  )
}

const at = (path: string, response: FakeResponse) => (requested: ReceivedRequest) =>
  requested.path === path ? response : null

const hint = 'is --acme-directory the address of an ACME directory?'
const elsewhere = (path: string) => `http://192.0.2.1/${path}`
const urls = { newNonce: elsewhere('nonce'), newAccount: elsewhere('account'), newOrder: elsewhere('order') }
type Case = [path: string, answer: FakeResponse, code: string, message: string, hint?: string]
const cases: Record<string, Case> = {
  'refuses the host': [
    '/order',
    acmeProblem(400, 'rejectedIdentifier', 'policy forbids\n  this name'),
    'acme_rejected',
    'CA rejected the request: policy forbids this name',
  ],
  'refuses the account': [
    '/account',
    acmeProblem(400, 'invalidContact', 'no such domain'),
    'acme_rejected',
    'CA rejected the request: no such domain',
  ],
  'reports an internal error': [
    '/order',
    acmeProblem(503, 'serverInternal', 'maintenance'),
    'acme_unreachable',
    'CA reports an internal error: maintenance',
  ],
  'gives no reason': [
    '/order',
    { status: 502, body: '<html>Bad Gateway</html>' },
    'acme_unreachable',
    'CA reports an internal error: it responded with status 502',
  ],
  'is not an ACME directory': [
    '/dir',
    { body: { hello: 'world' } },
    'acme_unreachable',
    'http://CA/dir is not an ACME directory',
    hint,
  ],
  'is a page': [
    '/dir',
    { body: '<html>Welcome</html>' },
    'acme_unreachable',
    'http://CA/dir did not return an ACME response',
    hint,
  ],
  'sends us elsewhere': [
    '/dir',
    { status: 302, headers: { location: 'http://169.254.169.254/' } },
    'acme_unreachable',
    'http://CA/dir responds with 302',
    hint,
  ],
  'sends an endless response': [
    '/dir',
    { body: 'x'.repeat(300 * 1024) },
    'acme_unreachable',
    'CA cannot be reached: its response is larger than 256 KiB',
  ],
  'names an address that is not https': [
    '/dir',
    { body: urls },
    'acme_unreachable',
    `the address of a CA is not https: ${elsewhere('nonce')}`,
  ],
}

for (const [name, [path, answer, ...expected]] of Object.entries(cases)) {
  test(`a CA that ${name} is reported in one line`, async (t) => {
    const ca = await startFaultyCa(t, at(path, answer))
    const { code, message, hint } = await failureAt(ca.directoryUrl)
    const [wantedCode, wantedMessage, wantedHint] = expected
    const shown = message.replaceAll(ca.url.replace('http://', ''), 'CA')
    assert.deepEqual([code, shown, hint], [wantedCode, wantedMessage, wantedHint])
  })
}

/** Until when the CA wants no question, in seconds from now. */
async function pauseAfter(
  t: TestContext,
  response: FakeResponse,
): Promise<{ code: string; seconds: number | null }> {
  const ca = await startFaultyCa(t, at('/order', response))
  const { code, retryAt } = await failureAt(ca.directoryUrl)
  const inTens = (ms: number) => Math.round(ms / 10_000) * 10
  return { code, seconds: retryAt === null ? null : inTens(Date.parse(retryAt) - Date.now()) }
}

test('a rate limit is recognized by its status or its type, with the time that the CA names', async (t) => {
  const limited = (status: number, headers: Record<string, string>) =>
    pauseAfter(t, acmeProblem(status, 'rateLimited', 'too many', headers))
  const code = 'acme_rate_limited'

  assert.deepEqual(await limited(429, { 'retry-after': '7200' }), { code, seconds: 7200 })
  const date = new Date(Date.now() + 3600_000).toUTCString()
  assert.deepEqual(await limited(403, { 'retry-after': date }), { code, seconds: 3600 })
  assert.deepEqual(await limited(429, {}), { code, seconds: null })
  assert.deepEqual(await limited(429, { 'retry-after': 'soon' }), { code, seconds: null })
  assert.deepEqual(await limited(429, { 'retry-after': '999999999' }), { code, seconds: 7 * 24 * 3600 })
  const plain = await pauseAfter(t, { status: 429, body: 'slow down' })
  assert.deepEqual(plain, { code, seconds: null })
})

test('a CA that rejects every nonce gets a bounded number of requests, each with a new nonce', async (t) => {
  const ca = await startFaultyCa(t, at('/account', acmeProblem(400, 'badNonce', 'not this one')))

  const { code, message } = await failureAt(ca.directoryUrl)

  assert.equal(code, 'acme_rejected')
  assert.match(message, /rejected the request: not this one$/)
  const nonces = ca.requests
    .filter(({ path }) => path === '/account')
    .map(({ body }) => Buffer.from((body as { protected: string }).protected, 'base64url').toString())
    .map((header) => JSON.parse(header).nonce)
  assert.deepEqual([nonces.length, new Set(nonces).size], [20, 20])
})

test('a missing CA is unreachable, and so is one whose address is not https', async (t) => {
  const ca = await startFaultyCa(t, () => null)
  await ca.stop()

  const gone = await failureAt(ca.directoryUrl)
  const open = await failureAt('http://ca.example.com/dir')

  assert.equal(gone.code, 'acme_unreachable')
  assert.match(gone.message, /^127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED/)
  assert.equal(open.message, 'the address of a CA is not https: http://ca.example.com/dir')
})

test('the deadline of the order ends it with its own reason while the CA delays it', async (t) => {
  const pending = { status: 'processing', authorizations: [], finalize: 'https://ca.example.com/finalize' }
  const controller = new AbortController()
  const ca = await startFaultyCa(t, ({ path }) => {
    if (path === '/order/1') controller.abort(new Error('too late'))
    if (path === '/order')
      return { status: 201, body: { ...pending, status: 'pending' }, headers: { location: '/order/1' } }
    return path === '/order/1'
      ? { body: { ...pending, status: 'pending' }, headers: { 'retry-after': '600' } }
      : null
  })

  const { message } = await failureAt(ca.directoryUrl, controller.signal)

  assert.equal(message, 'too late')
})

test('a challenge that cannot be served is removed again', async (t) => {
  const ca = await startFaultyCa(t, ({ path }) => {
    const [authorization, challenge] = [`${ca.url}/authorization`, `${ca.url}/challenge`]
    const order = { status: 'pending', authorizations: [authorization], finalize: `${ca.url}/finalize` }
    if (path === '/order') return { status: 201, body: order, headers: { location: `${ca.url}/order/1` } }
    if (path !== '/authorization') return path === '/order/1' ? { body: order } : null
    const challenges = [{ type: 'http-01', url: challenge, token: 'a'.repeat(20), status: 'pending' }]
    return { body: { status: 'pending', challenges } }
  })
  let dropped = 0
  const failure = await failureAt(ca.directoryUrl, undefined, {
    put: async () => {
      throw new Error('no name server responds')
    },
    drop: async () => void dropped++,
  })
  assert.match(failure.message, /no name server responds/)
  assert.equal(dropped, 1)
})
