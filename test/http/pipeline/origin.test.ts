// Requests from elsewhere: what a page of another site makes this browser send changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHostCheck, createProxyTrust } from '../../../src/http/pipeline/origin.ts'
import { outcomeOf, startWithAccount } from '../../support/http/account.ts'
import type { SentHeaders } from '../../support/http/browser.ts'

const crossSite = '403 cross_site_request'

/** What a browser can say of where a request comes from, and whether that is the server's own page. */
function places(url: string): [says: SentHeaders, isOwn: boolean][] {
  const { host, port } = new URL(url)
  const noSite = { 'sec-fetch-site': null }
  return [
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://evil.example' }, true],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': '' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: url }, false],
    [{ ...noSite, origin: url }, true],
    [{ ...noSite, origin: url.toUpperCase() }, true],
    [{ ...noSite, origin: 'null' }, false],
    [{ ...noSite, origin: '' }, false],
    [{ ...noSite, origin: `https://${host}` }, false],
    [{ ...noSite, origin: host }, false],
    [{ ...noSite, origin: 'http://127.0.0.1' }, false],
    [{ ...noSite, origin: `http://localhost:${port}` }, false],
    [{ ...noSite, origin: `${url}.evil.example` }, false],
    [{ ...noSite, origin: `http://evil.example#${host}` }, false],
  ]
}

test('with the cookie only the server’s own pages can make changes', async (t) => {
  const { url, browser } = await startWithAccount(t)

  for (const [says, isOwn] of places(url)) {
    const response = await browser.call('POST', '/auth/tokens', { name: 'ci' }, says)
    assert.equal(outcomeOf(response), isOwn ? '201' : crossSite, JSON.stringify(says))
    const none = await browser.call('DELETE', '/auth/tokens/none', undefined, says)
    assert.equal(outcomeOf(none), isOwn ? '404 not_found' : crossSite, JSON.stringify(says))
  }
})

test('with the cookie a page of another site cannot read either, nor open a stream', async (t) => {
  const { url, browser, call } = await startWithAccount(t)

  for (const [says, isOwn] of places(url)) {
    const isAllowed = isOwn || says['sec-fetch-site'] === 'none'
    const read = await browser.call('GET', '/auth/sessions', undefined, says)
    assert.equal(outcomeOf(read), isAllowed ? '200' : crossSite, JSON.stringify(says))
    if (isAllowed) continue
    assert.equal(outcomeOf(await browser.call('GET', '/events', undefined, says)), crossSite)
    const named = Object.entries(says).filter(([, value]) => value !== null)
    const headers = { ...(Object.fromEntries(named) as Record<string, string>), cookie: browser.cookie }
    assert.equal((await call('HEAD', '/api/v1/auth/sessions', { token: null, headers })).status, 403)
  }
})

test('tokens are not checked for their origin', async (t) => {
  const { url, browser, call } = await startWithAccount(t)

  for (const [says] of places(url)) {
    const headers = Object.fromEntries(Object.entries(says).filter(([, value]) => value !== null))
    const response = await call('POST', '/api/v1/services', {
      body: {},
      headers: { ...(headers as Record<string, string>), cookie: browser.cookie },
    })
    assert.equal(response.body.code, 'invalid_request')
  }
})

test('a script without a cookie may sign in and out', async (t) => {
  const { signedOut } = await startWithAccount(t)
  const script = { 'sec-fetch-site': null, cookie: null }
  const one = signedOut()

  assert.equal((await one.signIn(script)).status, 200)
  assert.equal((await one.call('POST', '/auth/logout', undefined, script)).status, 204)
})

test("behind a trusted proxy the server's origin is the one that the browser sees", async (t) => {
  const trusting = { allowedHosts: () => true, isTrustedProxy: () => true }
  const { browser, url } = await startWithAccount(t, trusting)
  const seen = { 'x-forwarded-proto': 'https', 'x-forwarded-host': `berth.example.com:${new URL(url).port}` }
  const ask = async (origin: string) =>
    outcomeOf(
      await browser.call('POST', '/auth/tokens', { name: 'ci' }, { ...seen, origin, 'sec-fetch-site': null }),
    )

  assert.equal(await ask(`https://${seen['x-forwarded-host']}`), '201')
  assert.equal(await ask(`https://BERTH.example.com:${new URL(url).port}`), '201')
  for (const origin of [`http://${seen['x-forwarded-host']}`, url, 'https://berth.example.com']) {
    assert.equal(await ask(origin), crossSite, origin)
  }
})

test('loopback, the listen address and the dashboard’s host are accepted, at any port', () => {
  const isOwn = createHostCheck(['192.0.2.7', 'berth.example.com'])
  const hosts = ['localhost', '127.0.0.1', '[::1]', '192.0.2.7', 'berth.example.com', 'Berth.Example.COM']

  for (const host of hosts) {
    for (const port of ['', ':80', ':7878', ':65535']) assert.equal(isOwn(host + port), true, host + port)
  }
})

test('every other host is rejected, even similar ones', () => {
  const isOwn = createHostCheck(['192.0.2.7', 'berth.example.com'])
  const similar = [
    'xlocalhost',
    'localhost.evil.example',
    'evil.berth.example.com',
    '127.0.0.2',
    '192.0.2.70',
  ]
  const odd = ['', ':7878', 'localhost:80:80', 'localhost:', 'localhost:x', 'localhost@evil.example', '::1']

  for (const host of [...similar, ...odd]) assert.equal(isOwn(host), false, host)
})

test('without a dashboard host, an empty host does not match it', () => {
  const isOwn = createHostCheck(['0.0.0.0', ''])

  assert.deepEqual([isOwn(''), isOwn(':7878'), isOwn('0.0.0.0:7878')], [false, false, true])
})

test('without proxies no address is trusted', () => {
  const isTrusted = createProxyTrust([])

  for (const address of ['127.0.0.1', '::1', '10.0.0.5', '']) assert.equal(isTrusted(address), false, address)
})

test('a proxy is trusted by its address or its network, for IPv4 and IPv6', () => {
  const isTrusted = createProxyTrust(['10.0.0.5', '192.168.0.0/16', 'fd00::7', '2001:db8::/32'])
  const trusted = ['10.0.0.5', '192.168.0.0', '192.168.255.255', 'FD00::7', 'fd00:0:0::0007', '2001:db8::1']
  const others = ['10.0.0.6', '10.0.0.50', '192.169.0.0', 'fd00::8', '2001:db9::1', '::1', '127.0.0.1']
  const malformed = [
    '',
    'unknown',
    'proxy.example',
    '10.0.0.5:80',
    '10.0.0.5, 10.0.0.5',
    '[fd00::7]',
    '10.0.0',
  ]

  for (const address of trusted) assert.equal(isTrusted(address), true, address)
  for (const address of [...others, ...malformed]) assert.equal(isTrusted(address), false, address)
})

test('a network with a zero-length prefix contains all addresses of its family', () => {
  const isTrusted = createProxyTrust(['0.0.0.0/0'])

  assert.deepEqual([isTrusted('203.0.113.9'), isTrusted('2001:db8::1')], [true, false])
})

test('text that is neither an address nor a network is named', () => {
  const words = { message: "'proxy.example' is neither an address nor a network" }

  assert.throws(() => createProxyTrust(['10.0.0.5', 'proxy.example']), words)
  assert.throws(() => createProxyTrust(['proxy.example/8']))
})
