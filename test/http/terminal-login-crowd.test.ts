// Terminal logins of many: what is open at a time, and that nobody is refused who need not be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outcomeOf, startOwned } from '../support/account.ts'

const behindProxy = { isTrustedProxy: (address: string) => address === '127.0.0.1' }

test('a hundred are open, also when they are asked for at once, and one more is refused', async (t) => {
  const { stranger, browser } = await startOwned(t, behindProxy)
  const begin = (address: string) =>
    stranger().call('POST', '/auth/cli', {}, { 'x-forwarded-for': address, 'sec-fetch-site': null })

  const came = await Promise.all(Array.from({ length: 130 }, (_, index) => begin(`192.0.2.${index}`)))

  assert.equal(came.filter(({ status }) => status === 201).length, 100)
  assert.equal(came.filter((one) => outcomeOf(one) === '429 too_many_attempts').length, 30)
  const { id, secret } = came.find(({ status }) => status === 201)!.body
  await browser.call('POST', `/auth/cli/${id}/deny`)
  await stranger().call('POST', `/auth/cli/${id}/token`, { secret })
  assert.equal(outcomeOf(await begin('198.51.100.1')), '201')
  assert.equal(outcomeOf(await begin('198.51.100.2')), '429 too_many_attempts')
})

test('behind a trusted proxy each address has its own ten', async (t) => {
  const { stranger } = await startOwned(t, behindProxy)
  const begin = (hops: string) =>
    stranger().call('POST', '/auth/cli', {}, { 'x-forwarded-for': hops, 'sec-fetch-site': null })

  for (let count = 0; count < 10; count++) assert.equal(outcomeOf(await begin('192.0.2.1')), '201')

  // The last address counts that no trusted proxy has: what stands before it is its own claim.
  for (const hops of ['192.0.2.1', '192.0.2.9, 192.0.2.1', '192.0.2.9, 192.0.2.1, 127.0.0.1']) {
    assert.equal(outcomeOf(await begin(hops)), '429 too_many_attempts', hops)
  }
  assert.equal(outcomeOf(await begin('192.0.2.1, 192.0.2.2')), '201')
})

test('whoever asks while others are being made is counted once', async (t) => {
  const { stranger } = await startOwned(t)
  const asked = []
  for (let count = 0; count < 10; count++) {
    asked.push(stranger().call('POST', '/auth/cli', {}))
    await new Promise((resolve) => setTimeout(resolve, count % 3))
  }

  const came = await Promise.all(asked)

  assert.deepEqual(
    came.map(outcomeOf),
    asked.map(() => '201'),
  )
})
