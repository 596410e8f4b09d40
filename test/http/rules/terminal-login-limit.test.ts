// Terminal logins of many clients: how many may be requested, and that strangers end no other login.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTerminalLogins } from '../../../src/account/terminal-logins.ts'
import { clientOf, networkOf } from '../../../src/http/rules/terminal-login-limit.ts'
import { outcomeOf, startWithAccount } from '../../support/http/account.ts'
import type { BrowserAnswer } from '../../support/http/browser.ts'

const isTrustedProxy = (address: string) => address === '127.0.0.1'
const tooMany = '429 too_many_attempts'
const wrongCode = '403 invalid_start_code'

/** Clients behind a trusted proxy, and a clock that only the test advances. */
async function startCrowd(t: TestContext) {
  const clock = { ms: 0 }
  const terminalLogins = createTerminalLogins(() => clock.ms)
  const api = await startWithAccount(t, { isTrustedProxy, terminalLogins })
  const begin = (address: string, body: object = {}) =>
    api.signedOut().call('POST', '/auth/cli', body, { 'x-forwarded-for': address, 'sec-fetch-site': null })
  const statusOf = async ({ body }: BrowserAnswer) =>
    outcomeOf(await api.browser.call('GET', `/auth/cli/${body.id}`))
  const countOpen = () => [...api.storage.actors.active('terminal-login')].length
  const startCode = () => terminalLogins.startCode.current()
  return { ...api, clock, begin, statusOf, countOpen, startCode }
}

type Crowd = Awaited<ReturnType<typeof startCrowd>>

/** Requests from many networks, until the rate of all of them is used up. */
async function useUp({ begin }: Crowd): Promise<BrowserAnswer> {
  for (let index = 0; ; index++) {
    const response = await begin(`10.${index >> 8}.${index & 255}.1`)
    if (response.status !== 201) return response
  }
}

test('a flood of requests ends no login, and at most 100 are open', async (t) => {
  const crowd = await startCrowd(t)
  const { begin, clock, countOpen, startCode, statusOf } = crowd
  const own = await begin('198.51.100.1')
  const approved = await begin('198.51.100.1')
  await crowd.browser.call('POST', `/auth/cli/${approved.body.id}/approve`)

  for (let second = 0; second < 600; second += 5) {
    assert.equal(outcomeOf(await useUp(crowd)), tooMany)
    await begin(`203.0.113.${second & 255}`, { start_code: startCode() })
    clock.ms += 5000
  }

  assert.deepEqual([await statusOf(own), await statusOf(approved)], ['200', '200'])
  assert.ok(countOpen() > 80 && countOpen() <= 100, `${countOpen()} are open`)
})

test('the rate recovers: of all networks six a minute, of one network one a minute', async (t) => {
  const crowd = await startCrowd(t)
  const { begin, clock } = crowd
  for (let count = 0; count < 10; count++) assert.equal(outcomeOf(await begin('192.0.2.1')), '201')

  const sameNetwork = await begin('192.0.2.1')
  assert.deepEqual([outcomeOf(sameNetwork), sameNetwork.headers['retry-after']], [tooMany, '60'])
  const all = await useUp(crowd)
  assert.deepEqual([outcomeOf(all), all.headers['retry-after']], [tooMany, '10'])

  clock.ms += 10_000
  assert.deepEqual([await begin('192.0.2.1'), await begin('10.9.9.9')].map(outcomeOf), [tooMany, '201'])
  clock.ms += 50_000
  assert.deepEqual([await begin('192.0.2.1'), await begin('192.0.2.1')].map(outcomeOf), ['201', tooMany])
})

test('a refused request names the way in, and uses up nothing', async (t) => {
  const crowd = await startCrowd(t)
  const { begin, clock } = crowd
  await useUp(crowd)
  for (let count = 0; count < 30; count++) {
    const { body } = await begin('192.0.2.1')
    assert.match(String(body.hint), /start code on the page \/account.* berth login URL --code CODE/)
  }

  clock.ms += 10_000

  assert.equal(outcomeOf(await begin('192.0.2.1')), '201')
})

test('what stands before the last address that is no proxy is the client’s own claim', async (t) => {
  const { begin } = await startCrowd(t)
  for (let count = 0; count < 10; count++) await begin('192.0.2.1')

  for (const hops of ['192.0.2.1', '198.51.100.9, 192.0.2.1', '198.51.100.9, 192.0.2.1, 127.0.0.1']) {
    assert.equal(outcomeOf(await begin(hops)), tooMany, hops)
  }
  assert.equal(outcomeOf(await begin('192.0.2.1, 198.51.100.2')), '201')
})

test('with the start code a login is requested while the rate is used up, but is not approved', async (t) => {
  const crowd = await startCrowd(t)
  const { begin, browser, signedOut, startCode } = crowd
  const { status } = await useUp(crowd)
  assert.equal(status, 429)

  const { body } = await begin('10.0.0.1', { name: 'laptop', start_code: startCode() })

  const poll = () => signedOut().call('POST', `/auth/cli/${body.id}/token`, { secret: body.secret })
  assert.deepEqual((await poll()).body, { status: 'pending' })
  const { body: shown } = await browser.call('GET', `/auth/cli/${body.id}`)
  assert.deepEqual([shown.status, shown.code, shown.name], ['pending', body.code, 'laptop'])
  assert.ok(!JSON.stringify([body, shown]).includes(startCode()))
})

test('a wrong start code is refused even without a flood, and an empty one is none', async (t) => {
  const { begin, countOpen, startCode } = await startCrowd(t)

  for (const code of ['ACEF-HJKM-NPRT', startCode().slice(1), '\u0000', '-']) {
    assert.equal(outcomeOf(await begin('192.0.2.1', { start_code: code })), wrongCode, code)
  }
  assert.equal(outcomeOf(await begin('192.0.2.1', { start_code: 'A'.repeat(101) })), '400 invalid_request')
  assert.equal(countOpen(), 0)
  for (const code of ['', null]) {
    assert.equal(outcomeOf(await begin('192.0.2.1', { start_code: code })), '201')
  }
})

test('after ten wrong start codes a client is refused, and nobody else', async (t) => {
  const { begin, clock, startCode } = await startCrowd(t)
  for (const address of ['192.0.2.1', '2001:db8::1']) {
    for (let count = 0; count < 10; count++) {
      assert.equal(outcomeOf(await begin(address, { start_code: 'guess' })), wrongCode)
    }
  }

  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::ffff']) {
    const refused = await begin(address, { start_code: startCode() })
    assert.deepEqual([outcomeOf(refused), refused.headers['retry-after']], [tooMany, '30'], address)
  }
  for (const address of ['192.0.2.2', '2001:db8:0:1::1']) {
    assert.equal(outcomeOf(await begin(address, { start_code: startCode() })), '201', address)
  }
  // Without a code the client may go on.
  assert.equal(outcomeOf(await begin('192.0.2.1')), '201')
  clock.ms += 30_000
  assert.equal(outcomeOf(await begin('192.0.2.1', { start_code: startCode() })), '201')
})

test('the start code has a rate of its own', async (t) => {
  const crowd = await startCrowd(t)
  const { begin, startCode } = crowd
  for (let index = 0; index < 5; index++) {
    assert.equal(outcomeOf(await begin(`192.0.${index}.1`, { start_code: startCode() })), '201')
  }

  assert.equal(outcomeOf(await begin('198.51.100.1', { start_code: startCode() })), tooMany)
  assert.equal(outcomeOf(await begin('198.51.100.1')), '201')
})

test('the host itself has no exemption: its users and proxies look the same', async (t) => {
  const { signedOut, startCode } = await startCrowd(t)
  const begin = (body: object) => signedOut().call('POST', '/auth/cli', body, { 'sec-fetch-site': null })
  for (let count = 0; count < 10; count++) assert.equal(outcomeOf(await begin({})), '201')

  assert.equal(outcomeOf(await begin({})), tooMany)
  assert.equal(outcomeOf(await begin({ start_code: startCode() })), '201')
})

const blocks = {
  '192.0.2.1': ['192.0.2/24', '192.0.2.1/32'],
  '::ffff:192.0.2.1': ['192.0.2/24', '192.0.2.1/32'],
  '0000:0000:0000:0000:0000:ffff:c000:0201': ['192.0.2/24', '192.0.2.1/32'],
  '2001:db8:0:1::1': ['2001:db8:0::/48', '2001:db8:0:1::/64'],
  '2001:DB8::1:a:b:c:d': ['2001:db8:0::/48', '2001:db8:0:1::/64'],
  '::1': ['0:0:0::/48', '0:0:0:0::/64'],
  'fe80::1%eth0': ['fe80:0:0::/48', 'fe80:0:0:0::/64'],
}

for (const [address, [network, client]] of Object.entries(blocks)) {
  test(`${address} belongs to the network ${network} and is the client ${client}`, () => {
    assert.deepEqual([networkOf(address), clientOf(address)], [network, client])
  })
}

test('text that is not an address is unchanged', () => {
  for (const text of ['', 'unknown', '999.1.1.1', '1:2:3']) {
    assert.deepEqual([networkOf(text), clientOf(text)], [text, text])
  }
})
