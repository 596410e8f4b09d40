// The account of a real daemon: its creation, and what survives a kill.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { until } from '../support/daemon/service.ts'
import { outcomeOf } from '../support/http/account.ts'
import { type Browser, openBrowser } from '../support/http/browser.ts'
import { owner } from '../support/http/session.ts'

const codeIn = ({ printed }: TestDaemon): string[] =>
  printed.flatMap((line) => /\/setup\?code=([\w-]+)$/.exec(line)?.[1] ?? [])

const codeFile = ({ dataDir }: TestDaemon) => join(dataDir, 'setup_code')

async function setUp(daemon: TestDaemon): Promise<Browser> {
  const browser = openBrowser(daemon.api.url)
  const code = readFileSync(codeFile(daemon), 'utf8').trim()
  assert.equal((await browser.setUp(code)).status, 201)
  return browser
}

/** Uses the same cookies at the daemon's current port. */
function again({ jar }: Browser, { api }: TestDaemon): Browser {
  const { port } = new URL(api.url)
  return openBrowser(api.url, new Map([...jar].map(([name, value]) => [name.replace(/\d+$/, port), value])))
}

test('without an account a setup link with a private code is printed', async (t) => {
  const daemon = await startDaemon(t)
  const [code] = await until('the link', async () => codeIn(daemon).length > 0 && codeIn(daemon))
  const link = daemon.printed.find((line) => line.includes(code!))!.trim()

  assert.equal(link, `${daemon.api.url}/setup?code=${code}`)
  assert.equal(readFileSync(codeFile(daemon), 'utf8'), `${code}\n`)
  assert.equal(statSync(codeFile(daemon)).mode & 0o7777, 0o600)
  assert.ok(!daemon.log.join('\n').includes(code!), 'the log has the code')

  await daemon.kill()
  await daemon.start()
  await until('the link again', async () => codeIn(daemon).length === 2)
  assert.deepEqual(codeIn(daemon), [code, code])

  const browser = await setUp(daemon)
  assert.equal(existsSync(codeFile(daemon)), false)
  await daemon.stop()
  const lines = daemon.printed.length
  await daemon.start()
  const { body } = await again(browser, daemon).call('GET', '/auth/status')
  assert.deepEqual([body.auth, body.setup_required], ['session', false])
  assert.equal(existsSync(codeFile(daemon)), false)
  assert.deepEqual(daemon.printed.slice(lines), [])
})

/** Polls like a terminal. */
async function begin({ api }: TestDaemon): Promise<{ id: string; secret: string }> {
  const { status, body } = await openBrowser(api.url).call('POST', '/auth/cli', { name: 'laptop' })
  assert.equal(status, 201)
  return body
}

const namesOf = async (browser: Browser): Promise<string[]> =>
  (await browser.call('GET', '/auth/tokens')).body.map(({ name }: { name: string }) => name)

test('a kill keeps sessions, tokens and waits, but drops open terminal logins', async (t) => {
  const daemon = await startDaemon(t)
  const before = await setUp(daemon)
  const { token } = (await before.call('POST', '/auth/tokens', { name: 'ci' })).body
  const pending = await begin(daemon)
  const approved = await begin(daemon)
  await before.call('POST', `/auth/cli/${approved.id}/approve`)
  await until('its token', async () => (await namesOf(before)).includes('laptop'))
  const wrong = { ...owner, password: 'a wild guess' }
  for (let count = 0; count < 10; count++) {
    const response = await openBrowser(daemon.api.url).call('POST', '/auth/login', wrong)
    assert.equal(outcomeOf(response), '401 invalid_credentials')
  }

  await daemon.kill()
  await daemon.start()

  const browser = again(before, daemon)
  const refused = await openBrowser(daemon.api.url).signIn()
  assert.equal(outcomeOf(refused), '429 too_many_attempts')
  assert.ok(Number(refused.headers['retry-after']) <= 300)
  assert.equal((await browser.call('GET', '/auth/status')).body.auth, 'session')
  const asToken = { authorization: `Bearer ${token}`, cookie: null }
  assert.equal((await browser.call('GET', '/services', undefined, asToken)).status, 200)
  for (const { id, secret } of [pending, approved]) {
    assert.equal(outcomeOf(await browser.call('POST', `/auth/cli/${id}/token`, { secret })), '404 not_found')
    assert.equal(outcomeOf(await browser.call('GET', `/auth/cli/${id}`)), '404 not_found')
    assert.equal(outcomeOf(await browser.call('POST', `/auth/cli/${id}/approve`)), '404 not_found')
  }
  await until('the uncollected token to be revoked', async () => (await namesOf(browser)).length === 1)
  assert.deepEqual(await namesOf(browser), ['ci'])
})
