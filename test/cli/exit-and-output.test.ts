// How commands end, and what they write where: exit codes, pipes, colours, what no server may do.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { berthEnv, runBerth } from '../support/cli/berth.ts'
import { type FakeResponse, problem, startFakeServer } from '../support/cli/fake-server.ts'
import { openFakeTerminal } from '../support/cli/fake-terminal.ts'
import { openTerminal } from '../support/cli/pty.ts'
import { berthCommand } from '../support/cli/spawned.ts'

const introducer = '\u001b'

async function serverThat(t: TestContext, response: FakeResponse) {
  const server = await startFakeServer(t, () => response)
  return { BERTH_SERVER: server.url, BERTH_TOKEN: 'secret' }
}

/** A status. */
const idle = { service_id: 'svc-1', state: 'live', desired_instances: 0, reason: null, instances: [] }

const registry = (host: string) => ({
  host,
  username: 'ada',
  created_at: '2025-01-01T00:00:00.000Z',
  updated_at: '2025-01-01T00:00:00.000Z',
})

describe('a command', { concurrency: 4 }, () => {
  test('ends with 1 when the server cannot do it, with what failed, why and the next step', async (t) => {
    const hint = 'suspend it first'
    const env = await serverThat(t, problem(409, 'conflict', 'shop is busy', { hint }))

    const ended = await runBerth(t, ['suspend', 'shop'], { env })

    assert.deepEqual(ended, { code: 1, stdout: '', stderr: ` ✘ shop is busy\n   ${hint}\n` })
  })

  test('names each invalid field', async (t) => {
    const errors = [
      { path: 'port', code: 'too_big', message: 'is too large' },
      { path: 'branch', code: 'custom', message: 'is odd' },
    ]
    const env = await serverThat(t, problem(400, 'invalid_request', 'two fields are wrong', { errors }))

    const ended = await runBerth(t, ['update', 'shop', '--port', '99999'], { env })

    assert.equal(ended.stderr, ' ✘ two fields are wrong\n   port: is too large\n   branch: is odd\n')
  })

  test('ends with 2 on wrong usage, and suggests the nearest name', async (t) => {
    const [unknown, option, missing, number] = await Promise.all([
      runBerth(t, ['servces']),
      runBerth(t, ['services', '--jsno']),
      runBerth(t, ['scale', 'shop']),
      runBerth(t, ['scale', 'shop', 'many']),
    ])
    const codes = [unknown, option, missing, number].map(({ code }) => code)
    assert.deepEqual(codes, [2, 2, 2, 2])
    assert.equal(unknown!.stderr, " ✘ unknown command 'servces'\n   did you mean services?\n")
    assert.equal(option!.stderr, " ✘ unknown option '--jsno'\n   berth services --help\n")
    assert.equal(missing!.stderr, " ✘ missing required argument 'number'\n   berth scale NAME NUMBER\n")
    assert.equal(
      number!.stderr,
      " ✘ command-argument value 'many' is invalid for argument 'number'. " +
        'It must be 1 or more; berth suspend stops all.\n   berth scale --help\n',
    )
  })

  test('ends with 4 if the token may not read secrets, and names the server to log in to', async (t) => {
    const env = await serverThat(t, { body: { name: 'shop-db', password: null } })

    const ended = await runBerth(t, ['db', 'url', 'shop-db'], { env })

    assert.equal(ended.code, 4)
    assert.ok(ended.stderr.includes(`the role admin: berth login ${env.BERTH_SERVER}\n`), ended.stderr)
  })

  test('ends with 3 for a missing resource and with 4 for a rejected credential', async (t) => {
    const absent = await serverThat(t, problem(404, 'not_found', 'there is no such service'))
    const refused = await serverThat(t, problem(401, 'unauthorized', 'this credential is not valid'))

    assert.equal((await runBerth(t, ['show', 'shop'], { env: absent })).code, 3)
    const ended = await runBerth(t, ['show', 'shop'], { env: refused })
    assert.equal(ended.code, 4)
    assert.ok(ended.stderr.includes(`log in: berth login ${refused.BERTH_SERVER}\n`), ended.stderr)
    assert.ok(!ended.stderr.includes('secret'))
  })

  test('ends with 5 when no server responds, and with 1 when the server is not Berth', async (t) => {
    const server = await startFakeServer(t, () => ({ status: 200, body: '<html>' }))
    const env = { BERTH_SERVER: server.url }
    const strange = await runBerth(t, ['services'], { env })
    await server.stop()
    const gone = await runBerth(t, ['services'], { env })

    assert.equal(strange.code, 1)
    assert.match(strange.stderr, /not like a Berth server/)
    assert.equal(gone.code, 5)
    assert.match(gone.stderr, /cannot reach the server at .*: nothing listens there/)
  })

  test('ends with 130 at Ctrl-C', async (t) => {
    const env = await serverThat(t, { body: idle })
    const terminal = openTerminal(t, ['status', 'shop', '--watch'], { env })
    await terminal.shows('Ctrl-C ends')

    terminal.type('\u0003')

    assert.equal(await terminal.ended(), 130)
  })

  test('ends quietly and successfully when its reader closes the pipe', async (t) => {
    const server = await startFakeServer(t, () => ({ body: { ...idle, desired_instances: Date.now() } }))
    const env = berthEnv(t, { env: { BERTH_SERVER: server.url } })
    const child = spawn(process.execPath, [...berthCommand, 'status', 'shop', '--watch', '--json'], { env })
    const said = text(child.stderr)

    child.stdout.once('data', () => child.stdout.destroy())

    const [code] = await once(child, 'close')
    assert.deepEqual([code, await said], [0, ''])
  })
})

describe('output of a command', { concurrency: 4 }, () => {
  const rows = { body: [registry('ghcr.io')] }

  test('goes to stdout if it is a result and to stderr if it is a message', async (t) => {
    const env = await serverThat(t, { body: [] })
    const none = await runBerth(t, ['registries'], { env })
    const some = await runBerth(t, ['registries'], { env: await serverThat(t, rows) })

    assert.equal(none.stdout, '')
    assert.match(none.stderr, /no registries/)
    assert.match(some.stdout, /^HOST +USERNAME +CHANGED\nghcr\.io +ada +\d+d ago\n$/)
    assert.equal(some.stderr, '')
  })

  test('has colours at a terminal, and none where they are disabled', async (t) => {
    const env = await serverThat(t, rows)
    const onTerminal = async (more: Record<string, string>, ...flags: string[]) => {
      const terminal = openFakeTerminal(t, ['registries', ...flags], { env: { ...env, ...more } })
      await terminal.ended()
      return terminal.written.includes(introducer)
    }
    const throughPipe = async (more: Record<string, string>) =>
      (await runBerth(t, ['registries'], { env: { ...env, ...more } })).stdout.includes(introducer)

    assert.equal(await onTerminal({}), true)
    assert.equal(await onTerminal({ NO_COLOR: '' }), true)
    assert.equal(await onTerminal({ NO_COLOR: '1' }), false)
    assert.equal(await onTerminal({}, '--no-color'), false)
    assert.equal(await throughPipe({}), false)
    assert.equal(await throughPipe({ FORCE_COLOR: '1' }), true)
    assert.equal(await throughPipe({ FORCE_COLOR: '1', NO_COLOR: '1' }), true)
  })

  test('never lets a server move the cursor, set a title or hide text', async (t) => {
    const evil = `a${introducer}[2J${introducer}]0;title\u0007\u009b31m\r\n\u202eb\u0000`
    const env = await serverThat(t, { body: [registry(evil)] })
    const refusal = await serverThat(t, problem(409, 'conflict', evil, { hint: evil }))

    const list = await runBerth(t, ['registries'], { env })
    const refused = await runBerth(t, ['registries', 'rm', 'x'], { env: refusal })
    const raw = openFakeTerminal(t, ['api', 'GET', '/registries'], { env: { ...env, NO_COLOR: '1' } })
    await raw.ended()

    const unwanted = /[^\P{Cc}\n]|\u202e/u
    assert.doesNotMatch(list.stdout, unwanted)
    assert.match(list.stdout, /^a b +ada/m)
    assert.doesNotMatch(refused.stderr, unwanted)
    assert.doesNotMatch(raw.written.replaceAll('\r\n', '\n'), unwanted)
  })
})
