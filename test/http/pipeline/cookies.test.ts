// The session cookie: its name by the port that browsers see, its attributes, and two servers on one host.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AccountApi, startWithAccount } from '../../support/http/account.ts'
import { openBrowser, type SentHeaders } from '../../support/http/browser.ts'

const maxAge = 400 * 24 * 60 * 60

/** The name and the attributes of the cookie that a sign-in sets. */
async function cookieFor({ signedOut }: AccountApi, headers: SentHeaders): Promise<[string, string[]]> {
  const response = await signedOut().signIn(headers)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  const [line, device, ...others] = response.headers['set-cookie'] ?? []
  assert.deepEqual(others, [])
  const [, name, attributes] = /^(\w+)=bths_[\w-]{43}; (.*)$/.exec(line!)!
  assert.ok(device!.startsWith(`${name!.replace('session', 'device')}=v1.`))
  assert.ok(device!.endsWith(`; ${attributes}`))
  return [name!, attributes!.split('; ')]
}

const plain = ['Path=/', `Max-Age=${maxAge}`, 'HttpOnly', 'SameSite=Strict']
const secure = [...plain, 'Secure']
const anyHost = { allowedHosts: () => true }
const behindProxy = { ...anyHost, isTrustedProxy: (address: string) => address === '127.0.0.1' }

test('scripts cannot read it, other sites do not send it, and it outlives the browser session', async (t) => {
  const api = await startWithAccount(t)

  assert.deepEqual(await cookieFor(api, {}), [`svc_session_${api.server.port}`, plain])
})

test('its name ends with the port of the address that the browser uses', async (t) => {
  const api = await startWithAccount(t, anyHost)
  const names: Record<string, string> = {
    'berth.example.com': 'svc_session_80',
    'berth.example.com:80': 'svc_session_80',
    'berth.example.com:8443': 'svc_session_8443',
    'BERTH.example.com:99': 'svc_session_99',
    '[::1]:7878': 'svc_session_7878',
    '[::1]': 'svc_session_80',
  }

  for (const [host, name] of Object.entries(names)) {
    assert.deepEqual(await cookieFor(api, { host }), [name, plain], host)
  }
})

test('untrusted forwarding headers change nothing', async (t) => {
  const api = await startWithAccount(t, anyHost)
  const claims = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example', 'x-forwarded-port': '1' }

  assert.deepEqual(await cookieFor(api, claims), [`svc_session_${api.server.port}`, plain])
})

test('behind a trusted proxy the address is the one that the proxy names', async (t) => {
  const api = await startWithAccount(t, behindProxy)
  const cookieName = `svc_session_${api.server.port}`
  const host = { 'x-forwarded-host': 'berth.example.com' }
  const claims: [SentHeaders, string, string[]][] = [
    [{ 'x-forwarded-proto': 'https' }, cookieName, secure],
    [{ 'x-forwarded-proto': 'HTTPS' }, cookieName, secure],
    [{ 'x-forwarded-proto': 'http' }, cookieName, plain],
    [{ 'x-forwarded-proto': 'https', ...host }, 'svc_session_443', secure],
    [
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'berth.example.com:8443' },
      'svc_session_8443',
      secure,
    ],
    [host, 'svc_session_80', plain],
    // What a client said first, and the proxy after it.
    [{ 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'evil:1, good:2' }, 'svc_session_2', plain],
  ]

  for (const [headers, name, attributes] of claims) {
    assert.deepEqual(await cookieFor(api, headers), [name, attributes], JSON.stringify(headers))
  }
})

test('the cookie that clears it has the same name and attributes', async (t) => {
  const { browser } = await startWithAccount(t, behindProxy)
  const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'berth.example.com' }

  const { headers } = await browser.call('POST', '/auth/logout', undefined, https)

  assert.deepEqual(headers['set-cookie'], [
    'svc_session_443=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
  ])
})

test('two servers on one host name have separate sessions', async (t) => {
  const [one, other] = [await startWithAccount(t), await startWithAccount(t)]
  const jar = new Map<string, string>()
  const [atOne, atOther] = [openBrowser(one.url, jar), openBrowser(other.url, jar)]

  await atOne.signIn()
  await atOther.signIn()
  assert.equal([...jar.keys()].filter((name) => name.startsWith('svc_session_')).length, 2)
  const isIn = async (at: typeof atOne) => (await at.call('GET', '/auth/status')).body.auth === 'session'
  assert.deepEqual([await isIn(atOne), await isIn(atOther)], [true, true])
  await atOne.call('POST', '/auth/logout')

  assert.deepEqual([await isIn(atOne), await isIn(atOther)], [false, true])
})

/** Whether that header is taken for the session. */
async function countsAs(
  t: TestContext,
  toCookie: (name: string, secret: string) => string,
): Promise<boolean> {
  const { browser } = await startWithAccount(t)
  const [[name, secret]] = [...browser.jar] as [[string, string]]
  const cookie = toCookie(name, secret)
  return (await browser.call('GET', '/auth/sessions', undefined, { cookie })).status === 200
}

test('it is found among other cookies, by its complete name', async (t) => {
  assert.ok(await countsAs(t, (name, secret) => `a=b; ${name}=${secret};c=d`))
  assert.ok(await countsAs(t, (name, secret) => `x${name}=wrong;${name}=${secret}`))
  assert.ok(!(await countsAs(t, (name, secret) => `x${name}=${secret}`)))
  assert.ok(!(await countsAs(t, (name, secret) => `${name}1=${secret}`)))
  assert.ok(!(await countsAs(t, (name) => `${name}`)))
})

test('cookies set by another server of the host name hide no session', async (t) => {
  const { browser, url, server } = await startWithAccount(t)
  const name = `svc_session_${server.port}`
  const status = async (cookie: string) =>
    (await browser.call('GET', '/auth/sessions', undefined, { cookie })).status

  assert.equal(await status(`${name}=bths_planted; ${browser.cookie}`), 200)
  assert.equal(await status(`${name}=; ${name}=x; ${browser.cookie}; ${name}=y`), 200)
  assert.equal(await status(`${name}=bths_planted; x${browser.cookie}`), 401)

  const headers = { cookie: `${name}=planted; ${browser.cookie}`, 'sec-fetch-site': 'same-origin' }
  await fetch(`${url}/api/v1/auth/logout`, { method: 'POST', headers })
  assert.equal(await status(browser.cookie), 401)
})
