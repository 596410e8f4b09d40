// `berthd reset-password` as a separate process, with and without a running daemon, and what it
// must not change.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AuditEntry } from '../../src/api/audit.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { owner, signUp } from '../support/http/session.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = fileURLToPath(new URL('../..', import.meta.url))
const newPassword = 'another horse, écrit à la main'

/** Runs it with this standard input. */
async function reset(dataDir: string, input: string, ...flags: string[]) {
  const args = [...programArgs('src/main'), 'reset-password', '--data-dir', dataDir, ...flags]
  const child = spawn(process.execPath, args, { cwd: home })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.end(input)
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}

async function loginStatus(url: string, password: string): Promise<number> {
  const body = JSON.stringify({ ...owner, password })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(`${url}/api/v1/auth/login`, { method: 'POST', headers, body })).status
}

const statusOf = async (url: string, headers: Record<string, string>) =>
  (await fetch(`${url}/api/v1/auth/sessions`, { headers })).status

test('a running daemon applies the reset: password, sessions and attempts change, tokens stay', async (t) => {
  const daemon = await startDaemon(t)
  const { url } = daemon.api
  const browser = await signUp(url, daemon.dataDir)
  const response = await fetch(`${url}/api/v1/auth/tokens`, {
    method: 'POST',
    headers: { ...browser, 'content-type': 'application/json' },
    body: '{"name":"ci"}',
  })
  const { token } = (await response.json()) as { token: string }
  for (let guess = 0; guess < 10; guess++) await loginStatus(url, `wrong ${guess}`)
  assert.equal(await loginStatus(url, owner.password), 429)

  const { code, out, err } = await reset(daemon.dataDir, `${newPassword}\nmore\n`)

  assert.deepEqual([code, out, err], [0, `The password of ${owner.email} is set; 1 session has ended.\n`, ''])
  assert.equal(await statusOf(url, browser), 401)
  assert.equal(await loginStatus(url, newPassword), 200)
  assert.equal(await loginStatus(url, owner.password), 401)
  const requestWithToken = async () =>
    (await fetch(`${url}/api/v1/info`, { headers: { authorization: `Bearer ${token}` } })).status
  assert.equal(await requestWithToken(), 200)

  const again = await reset(daemon.dataDir, newPassword, '--revoke-tokens')

  assert.match(again.out, /; 1 session has ended, and 1 token is revoked\.\n$/)
  assert.equal(await requestWithToken(), 401)
  const [entry] = (await daemon.api.get('/audit?actor=host')) as unknown as AuditEntry[]
  assert.deepEqual(
    [entry?.action, entry?.subject.name, entry?.changed],
    ['account.reset_password', owner.email, ['password', 'revoke_tokens']],
  )
})

const refusals: [what: string, prepare: (t: TestContext) => Promise<string>, input: string, words: RegExp][] =
  [
    [
      'a folder that is not a data directory',
      noServer,
      newPassword,
      /is not the data directory of a Berth server/,
    ],
    ['a server without an account', emptyServer, newPassword, /has no account yet\n {2}open the setup link/],
  ]

for (const [what, prepare, input, words] of refusals) {
  test(`${what} is refused with its own error`, async (t) => {
    const { code, out, err } = await reset(await prepare(t), input)
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, words)
  })
}

test('an unacceptable password changes nothing', async (t) => {
  const daemon = await startDaemon(t)
  await signUp(daemon.api.url, daemon.dataDir)

  for (const input of ['', 'short\n', '\n\n', 'x'.repeat(1025)]) {
    const { code, err } = await reset(daemon.dataDir, input)
    assert.deepEqual([code, err], [1, 'berthd: the password must have 8 to 1024 characters\n'])
  }

  assert.equal(await loginStatus(daemon.api.url, owner.password), 200)
})

async function noServer(t: TestContext): Promise<string> {
  return temporaryDirectory(t)
}

async function emptyServer(t: TestContext): Promise<string> {
  const directory = temporaryDirectory(t)
  await (await temporaryStorage(t, directory)).close()
  return directory
}
