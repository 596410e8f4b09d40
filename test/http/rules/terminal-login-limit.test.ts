// Terminal logins of many clients: how many may be open, and that no request is refused without need.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { outcomeOf, startWithAccount } from '../../support/account.ts'
import type { BrowserAnswer } from '../../support/browser.ts'

const behindProxy = { isTrustedProxy: (address: string) => address === '127.0.0.1' }

const limit = 100

async function startCrowd(t: TestContext) {
  const api = await startWithAccount(t, behindProxy)
  const begin = (address: string) =>
    api.signedOut().call('POST', '/auth/cli', {}, { 'x-forwarded-for': address, 'sec-fetch-site': null })
  const statusOf = async ({ body }: BrowserAnswer) =>
    outcomeOf(await api.browser.call('GET', `/auth/cli/${body.id}`))
  const countOpen = () => [...api.storage.actors.active('terminal-login')].length
  return { ...api, begin, statusOf, countOpen }
}

test('login 101 evicts the oldest instead of being refused', async (t) => {
  const { begin, statusOf, countOpen } = await startCrowd(t)
  const requests = []
  for (let index = 0; index < limit; index++) requests.push(await begin(`192.0.2.${index}`))
  const [first, second] = requests as [BrowserAnswer, BrowserAnswer]

  const late = await begin('198.51.100.1')

  assert.equal(outcomeOf(late), '201')
  const statuses = [await statusOf(first), await statusOf(second), await statusOf(late)]
  assert.deepEqual(statuses, ['404 not_found', '200', '200'])
  assert.equal(countOpen(), limit)
})

test('a source with many open logins loses them before a source with one', async (t) => {
  const { begin, statusOf } = await startCrowd(t)
  const owner = await begin('198.51.100.1')
  for (let index = 0; index < limit - 1; index++) await begin(`192.0.2.${Math.floor(index / 10)}`)

  for (let index = 0; index < 30; index++) await begin(`203.0.113.${Math.floor(index / 10)}`)

  assert.equal(await statusOf(owner), '200')
})

test('an approved login stays until its terminal has the token', async (t) => {
  const { begin, browser, signedOut } = await startCrowd(t)
  const { id, secret } = (await begin('198.51.100.1')).body
  await browser.call('POST', `/auth/cli/${id}/approve`)
  for (let index = 0; index < limit + 5; index++) await begin(`192.0.2.${index}`)

  const response = await signedOut().call('POST', `/auth/cli/${id}/token`, { secret })

  assert.equal(response.body.status, 'approved')
})

test('of concurrent requests, a hundred stay open', async (t) => {
  const { begin, countOpen } = await startCrowd(t)

  const came = await Promise.all(Array.from({ length: 130 }, (_, index) => begin(`192.0.2.${index}`)))

  assert.deepEqual(new Set(came.map(outcomeOf)), new Set(['201']))
  assert.equal(countOpen(), limit)
})

test('all addresses of one IPv6 network share the limit of ten', async (t) => {
  const { begin } = await startCrowd(t)
  for (let index = 0; index < 10; index++) {
    assert.equal(outcomeOf(await begin(`2001:db8:0:1::${index.toString(16)}`)), '201')
  }

  for (const address of ['2001:db8:0:1::ffff', '2001:0db8:0000:0001:1:2:3:4', '2001:DB8:0:1:ffff::']) {
    assert.equal(outcomeOf(await begin(address)), '429 too_many_attempts', address)
  }
  assert.equal(outcomeOf(await begin('2001:db8:0:2::1')), '201')
})

test('behind a trusted proxy each address has its own limit of ten', async (t) => {
  const { signedOut } = await startWithAccount(t, behindProxy)
  const begin = (hops: string) =>
    signedOut().call('POST', '/auth/cli', {}, { 'x-forwarded-for': hops, 'sec-fetch-site': null })

  for (let count = 0; count < 10; count++) assert.equal(outcomeOf(await begin('192.0.2.1')), '201')

  // The last address counts that no trusted proxy has: what stands before it is its own claim.
  for (const hops of ['192.0.2.1', '192.0.2.9, 192.0.2.1', '192.0.2.9, 192.0.2.1, 127.0.0.1']) {
    assert.equal(outcomeOf(await begin(hops)), '429 too_many_attempts', hops)
  }
  assert.equal(outcomeOf(await begin('192.0.2.1, 192.0.2.2')), '201')
})

test('a request that arrives while others are created is counted once', async (t) => {
  const { signedOut } = await startWithAccount(t)
  const requests = []
  for (let count = 0; count < 10; count++) {
    requests.push(signedOut().call('POST', '/auth/cli', {}))
    await new Promise((resolve) => setTimeout(resolve, count % 3))
  }

  const came = await Promise.all(requests)

  assert.deepEqual(
    came.map(outcomeOf),
    requests.map(() => '201'),
  )
})
