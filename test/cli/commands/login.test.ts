// Logging in from a terminal, against a server that answers as it should, and as it should not.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { sleep } from '../../../src/async/sleep.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { type FakeResponse, problem, someInfo, startFakeServer } from '../../support/cli/fake-server.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { openTerminal } from '../../support/cli/pty.ts'
import type { Body } from '../../support/daemon/api.ts'
import { until } from '../../support/daemon/service.ts'
import { daemonSuite } from '../../support/daemon/suite.ts'
import { type SessionHeaders, signUp } from '../../support/http/session.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const started = { id: 'cli-1', code: 'ABCD-EFGH', secret: 'of the terminal', expires_in: 600, interval: 1 }

interface Options {
  /** The responses to polls, in order; the last one is repeated. */
  polls?: FakeResponse[]
  start?: FakeResponse
}

async function loginServer(t: TestContext, { polls = [], start = { status: 201, body: started } }: Options) {
  let count = 0
  return startFakeServer(t, ({ path, headers, body }) => {
    if (path === '/api/v1/auth/cli') return start
    if (path === '/api/v1/auth/cli/cli-1/token') {
      assert.deepEqual(body, { secret: started.secret })
      return polls[Math.min(count++, polls.length - 1)]!
    }
    const isKnown = headers.authorization === 'Bearer bth_right'
    return isKnown ? { body: someInfo } : problem(401, 'unauthorized', 'this credential is not valid')
  })
}

const pending = { body: { status: 'pending' } }
const approved = { body: { status: 'approved', token: 'bth_right' } }

function homeOf(t: TestContext) {
  const XDG_CONFIG_HOME = temporaryDirectory(t)
  const path = join(XDG_CONFIG_HOME, 'berth/config.json')
  return { env: { XDG_CONFIG_HOME }, config: () => JSON.parse(readFileSync(path, 'utf8')) }
}

describe('berth login', { concurrency: 4 }, () => {
  test('shows the page and the code, waits for approval, and stores the verified token', async (t) => {
    const server = await loginServer(t, { polls: [pending, approved] })
    const { env, config } = homeOf(t)
    const terminal = openFakeTerminal(t, ['login', server.url, '--no-browser'], { env })

    await terminal.shows('waiting for the approval')
    assert.equal(await terminal.ended(), 0)

    const screen = terminal.screen().join('\n')
    assert.ok(screen.includes(`${server.url}/cli-login?id=cli-1`), screen)
    assert.match(screen, /code {3}ABCD-EFGH/)
    assert.match(screen, /✔ logged in to .* saved as local/)
    assert.doesNotMatch(screen, /waiting|secret|bth_right/)
    assert.deepEqual(config(), {
      default: 'local',
      servers: { local: { url: server.url, token: 'bth_right' } },
    })
    assert.deepEqual(server.requests[0]!.body, { name: `berth on ${hostname()}` })
  })

  test('opens the page in the browser on a graphical display', async (t) => {
    const server = await loginServer(t, { polls: [pending, approved] })
    const folder = temporaryDirectory(t)
    const opened = join(folder, 'opened')
    const browser = join(folder, 'browser')
    writeFileSync(browser, `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
    const { env } = homeOf(t)

    // No other browser of this machine may be found.
    const desktop = { XDG_DATA_DIRS: folder, XDG_DATA_HOME: folder, XDG_CONFIG_DIRS: folder }
    const screen = { DISPLAY: ':99', BROWSER: browser, SSH_CONNECTION: '', SSH_TTY: '', ...desktop }
    const terminal = openTerminal(t, ['login', server.url], { env: { ...env, ...screen } })
    assert.equal(await terminal.ended(), 0)

    const page = await until('the browser', async () => readFileSync(opened, 'utf8'))
    assert.equal(page.trim(), `${server.url}/cli-login?id=cli-1`)
  })

  test('works through pipes, without redrawing lines', async (t) => {
    const server = await loginServer(t, { polls: [approved] })
    const { env, config } = homeOf(t)

    const ended = await runBerth(t, ['login', server.url, '--json'], { env })

    assert.equal(ended.code, 0, ended.stderr)
    assert.deepEqual(JSON.parse(ended.stdout), { server: 'local', url: server.url, version: '0.1.0' })
    assert.ok(ended.stderr.includes('ABCD-EFGH') && !ended.stderr.includes('\u001b'), ended.stderr)
    assert.equal(config().servers.local.token, 'bth_right')
  })

  test('reports a denied login, ends with 4 and stores nothing', async (t) => {
    const server = await loginServer(t, { polls: [{ body: { status: 'denied' } }] })
    const { env, config } = homeOf(t)

    const terminal = openFakeTerminal(t, ['login', server.url, '--no-browser'], { env })

    assert.equal(await terminal.ended(), 4)
    const screen = terminal.screen().join('\n')
    assert.ok(screen.includes(`✘ the login was denied\n   berth login ${server.url} starts over`), screen)
    assert.throws(config, { code: 'ENOENT' })
  })

  test('reports a login that expired before approval', async (t) => {
    const server = await loginServer(t, { polls: [pending, problem(404, 'not_found', 'no such login')] })
    const { env } = homeOf(t)

    const ended = await runBerth(t, ['login', server.url], { env })

    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /✘ the login has expired/)
    assert.ok(ended.stderr.includes(`\n   berth login ${server.url} starts over`), ended.stderr)
  })

  test('waits for an unavailable server, and continues when it is back', async (t) => {
    const starting = problem(503, 'unavailable', 'the server is starting')
    const server = await loginServer(t, { polls: [pending, starting, starting, approved] })
    const { env } = homeOf(t)
    const terminal = openFakeTerminal(t, ['login', server.url, '--no-browser'], { env })
    await until('a poll', async () => server.requests.length > 1)

    await server.stop()
    await sleep(1500)
    await server.restart()

    assert.equal(await terminal.ended(), 0)
  })

  test('polls less often when the server requests it', async (t) => {
    const slow = { ...problem(429, 'slow_down', 'too fast'), headers: { 'retry-after': '2' } }
    const server = await loginServer(t, { polls: [slow, approved] })
    const { env } = homeOf(t)

    const ended = await runBerth(t, ['login', server.url], { env })

    assert.equal(ended.code, 0, ended.stderr)
    assert.equal(server.requests.filter(({ path }) => path.endsWith('/token')).length, 2)
  })

  test('names the start code when the server gets too many logins, and sends it', async (t) => {
    const busy = problem(429, 'too_many_attempts', 'too many terminal logins at the moment')
    const server = await loginServer(t, { start: busy })
    const { env } = homeOf(t)
    const code = 'ACEF-HJKM-NPRT'

    const without = await runBerth(t, ['login', server.url], { env })
    const withCode = await runBerth(t, ['login', server.url, '--code', code], { env })

    assert.deepEqual([without.code, withCode.code], [1, 1])
    assert.match(without.stderr, /too many terminal logins at the moment/)
    assert.ok(without.stderr.includes(`berth login ${server.url} --code CODE`), without.stderr)
    assert.doesNotMatch(withCode.stderr, /--code CODE/)
    const name = `berth on ${hostname()}`
    assert.deepEqual(
      server.requests.map(({ body }) => body),
      [{ name }, { name, start_code: code }],
    )
  })

  test('verifies a token passed as an option without prompting', async (t) => {
    const server = await loginServer(t, {})
    const { env, config } = homeOf(t)
    const file = join(temporaryDirectory(t), 'token')
    writeFileSync(file, 'bth_right\n')

    const right = await runBerth(t, ['login', server.url, '--token-file', file, '--server', 'prod'], { env })
    const wrong = await runBerth(t, ['login', server.url], { env: { ...env, BERTH_TOKEN: 'bth_wrong' } })

    assert.equal(right.code, 0, right.stderr)
    assert.equal(wrong.code, 4)
    assert.match(wrong.stderr, /rejected this token/)
    assert.deepEqual(config(), {
      default: 'prod',
      servers: { prod: { url: server.url, token: 'bth_right' } },
    })
    assert.ok(server.requests.every(({ path }) => path === '/api/v1/info'))
  })

  test('on Ctrl-C ends with 130 and restores the cursor', async (t) => {
    const server = await loginServer(t, { polls: [pending] })
    const { env } = homeOf(t)
    const terminal = openTerminal(t, ['login', server.url, '--no-browser'], { env })
    await terminal.shows('waiting for the approval')

    terminal.type('\u0003')

    assert.equal(await terminal.ended(), 130)
    assert.ok(terminal.written.lastIndexOf('\u001b[?25h') > terminal.written.lastIndexOf('\u001b[?25l'))
  })
})

async function read(url: string, headers: SessionHeaders): Promise<Body> {
  return (await fetch(url, { headers })).json()
}

describe('berth login, on a real server', () => {
  const suite = daemonSuite()

  test('is refused before there is an account, then approved by the administrator', async (t) => {
    const { daemon, api } = suite
    const { env, config } = homeOf(t)
    const early = await runBerth(t, ['login', api.url], { env })
    assert.equal(early.code, 1)
    assert.match(early.stderr, /setup link/)

    const session = await signUp(api.url, daemon.dataDir)
    const terminal = openFakeTerminal(t, ['login', api.url, '--no-browser'], { env })
    await terminal.shows('waiting for the approval')
    const [, id] = /cli-login\?id=(\S+)/.exec(terminal.screen().join('\n')) ?? []
    const asking = await read(`${api.url}/api/v1/auth/cli/${id}`, session)
    assert.ok(terminal.screen().some((line) => line.trim() === `code   ${asking.code}`))
    await fetch(`${api.url}/api/v1/auth/cli/${id}/approve`, { method: 'POST', headers: session })

    assert.equal(await terminal.ended(), 0)
    const { token } = config().servers.local
    const who = JSON.parse((await runBerth(t, ['whoami', '--json'], { env })).stdout)
    assert.deepEqual([who.auth, who.token_hint], ['token', token.slice(-4)])
    const tokens = await read(`${api.url}/api/v1/auth/tokens`, session)
    assert.deepEqual(
      tokens.map(({ name }: { name: string }) => name),
      [`berth on ${hostname()}`],
    )
  })
})

async function start(t: TestContext) {
  const server = await startFakeServer(t, () => ({ body: someInfo }))
  const XDG_CONFIG_HOME = temporaryDirectory(t)
  const env = { XDG_CONFIG_HOME, BERTH_TOKEN: 'bth_x' }
  return { server, env, host: new URL(server.url).host, folder: join(XDG_CONFIG_HOME, 'berth') }
}

test('host and port are enough to log in to this machine and to choose a server', async (t) => {
  const { server, env, host } = await start(t)

  const { code, stderr } = await runBerth(t, ['login', host], { env })
  const chosen = await runBerth(t, ['info', '--server', host], { env })

  assert.equal(code, 0, stderr)
  assert.match(stderr, new RegExp(`logged in to ${server.url}, saved as local`))
  assert.equal(chosen.code, 0, chosen.stderr)
})

test('a known name logs in to its address again', async (t) => {
  const { server, env, folder } = await start(t)
  mkdirSync(folder)
  const servers = { prod: { url: server.url, token: 'old' } }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ servers }))

  const { code, stderr } = await runBerth(t, ['login', 'prod'], { env })

  assert.equal(code, 0, stderr)
  assert.match(stderr, new RegExp(`logged in to ${server.url}, saved as prod`))
})

test('a remote server without https gets a hint, and no request in clear text', async (t) => {
  const { server, env, host } = await start(t)
  const elsewhere = host.replace('127.0.0.1', '[::ffff:7f00:1]')

  const { code, stderr } = await runBerth(t, ['login', elsewhere], { env })

  assert.equal(code, 5)
  assert.ok(
    stderr.includes(`cannot reach the server at https://${elsewhere}: it does not speak https`),
    stderr,
  )
  assert.ok(stderr.endsWith(`in clear text: berth login http://${elsewhere}\n`), stderr)
  assert.deepEqual(server.requests, [])
})
