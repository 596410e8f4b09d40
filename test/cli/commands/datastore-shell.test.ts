// `berth db psql` where the server, the connection or the terminal fails.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { keepAlive } from '../../../src/cli/shell/shell.ts'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { problem } from '../../support/cli/fake-server.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { openTerminal } from '../../support/cli/pty.ts'
import { type ShellServer, startShellServer } from '../../support/cli/shell-server.ts'
import { berthCommand, spawnBerth } from '../../support/cli/spawned.ts'
import { until } from '../../support/daemon/service.ts'
import { issueTestCertificate } from '../../support/edge/test-certificate.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { findProcesses } from '../../support/system/processes.ts'

const words = ['db', 'psql', 'shop']
const envOf = ({ url }: ShellServer) => ({ BERTH_SERVER: url, BERTH_TOKEN: 'secret' })
const exit = (code: number) => JSON.stringify({ type: 'exit', code })

async function endedBy(t: TestContext, options: Parameters<typeof startShellServer>[1], args = words) {
  const server = await startShellServer(t, options)
  const ended = await runBerth(t, args, { env: envOf(server) })
  return { ...ended, ...server }
}

test('bytes pass unchanged and in order, and the exit code is passed on', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
  const { code, stdout, stderr, received, upgrades } = await endedBy(
    t,
    {
      answer(socket) {
        socket.send(Buffer.concat([Buffer.of(1), bytes]))
        socket.send(Buffer.concat([Buffer.of(2), Buffer.from('err\n')]))
        socket.send(Buffer.concat([Buffer.of(1), bytes]))
        socket.send(exit(9))
        socket.close(1000)
      },
    },
    [...words, '--', '-c', 'select 1', '--json'],
  )
  const twice = bytes.toString('utf8').repeat(2)
  assert.deepEqual([code, stdout, stderr], [9, twice, 'err\n'])
  assert.deepEqual(received.messages[0], {
    type: 'start',
    words: ['-c', 'select 1', '--json'],
    terminal: null,
  })
  assert.deepEqual(
    upgrades.map(({ url, headers }) => [url, headers.authorization]),
    [['/api/v1/datastores/dst-1/client', 'Bearer secret']],
  )
})

test('a server with a certificate of a custom authority is trusted as by every command', async (t) => {
  const { authorityPem, chainPem, keyPem } = await issueTestCertificate(['localhost'])
  const server = await startShellServer(t, {
    tls: { key: keyPem, cert: chainPem },
    answer: (socket) => socket.send(exit(0)),
  })
  const authority = join(temporaryDirectory(t), 'authority.pem')
  writeFileSync(authority, authorityPem)
  const foreign = await runBerth(t, words, { env: envOf(server) })
  const env = { ...envOf(server), NODE_EXTRA_CA_CERTS: authority }
  const known = await spawnBerth(t, words, { env }).ended()
  assert.deepEqual([foreign.code, known.code], [5, 0])
})

test('a refusal by the server is printed', async (t) => {
  const hint = 'berth db show shop'
  const busy = await endedBy(t, { refusal: problem(409, 'conflict', 'shop is restarting', { hint }) })
  assert.deepEqual([busy.code, busy.stderr], [1, ` ✘ shop is restarting\n   ${hint}\n`])

  const over = await endedBy(t, { refusal: problem(401, 'unauthorized', 'not valid any more') })
  const login = `log in: berth login ${over.url}`
  assert.deepEqual([over.code, over.stderr], [4, ` ✘ not valid any more\n   ${login}\n`])

  const strange = await endedBy(t, { refusal: { status: 502, body: '<h1>Bad gateway</h1>' } })
  assert.equal(strange.code, 1)
  assert.match(strange.stderr, /responded with 502, but not like a Berth server/)

  const error = { type: 'error', code: 'docker_unavailable', detail: 'Docker does not respond', hint: 'wait' }
  const late = await endedBy(t, { answer: (socket) => socket.send(JSON.stringify(error)) })
  assert.deepEqual([late.code, late.stderr], [1, ' ✘ Docker does not respond\n   wait\n'])
})

test('a connection that breaks ends with 5 and a message', async (t) => {
  const lost = (url: string, why: string) =>
    ` ✘ the connection to ${url} was lost: ${why}\n` +
    '   the client in the datastore was stopped, and uncommitted changes were rolled back\n'
  const cut = await endedBy(t, { answer: (socket) => socket.terminate() })
  assert.deepEqual([cut.code, cut.stderr], [5, lost(cut.url, 'it closed unexpectedly')])

  const stopped = await endedBy(t, { answer: (socket) => socket.close(1001) })
  const why = 'the server is stopping, or your token has expired'
  assert.deepEqual([stopped.code, stopped.stderr], [5, lost(stopped.url, why)])
})

test('at most half a MiB is sent beyond what the server has accepted', async (t) => {
  const input = 'x'.repeat(1_000_000)
  const server = await startShellServer(t, {})
  const running = startBerth(t, words, { env: envOf(server), input })
  const sizeOf = () => Buffer.concat(server.received.bytes).length
  await until('the window', async () => sizeOf() > 480 * 1024)
  assert.deepEqual(server.received.messages, [{ type: 'start', words: [], terminal: null }])
  assert.ok(server.received.bytes.every(({ length }) => length <= 32 * 1024))

  const taking = await startShellServer(t, {
    answer: (socket) =>
      socket.on('message', (data, isBinary) => {
        const { length } = data as Buffer
        if (isBinary) socket.send(JSON.stringify({ type: 'taken', bytes: length }))
        else socket.send(exit(0))
      }),
  })
  assert.equal((await runBerth(t, words, { env: envOf(taking), input })).code, 0)
  assert.equal(String(Buffer.concat(taking.received.bytes)), input)
  assert.ok(sizeOf() <= 512 * 1024, 'the other one had the time of a whole command')
  assert.equal(await Promise.race([running.ended(), 'running']), 'running')
  assert.deepEqual(taking.received.messages.at(-1), { type: 'eof' })
})

test('Ctrl-C ends a transfer through pipes', async (t) => {
  const server = await startShellServer(t, {})
  const running = spawnBerth(t, words, { env: envOf(server) })
  await until('the start', async () => server.received.messages.length > 0)
  running.interrupt()
  const { code, stderr } = await running.ended()
  assert.deepEqual([code, stderr], [130, ''])
})

const ends: Record<string, (socket: { terminate(): void; send(text: string): void }) => void> = {
  'the client ends': (socket) => socket.send(exit(0)),
  'the connection breaks off': (socket) => socket.terminate(),
  'the server sends an unknown message': (socket) => socket.send('?'),
}

for (const [what, end] of Object.entries(ends)) {
  test(`the terminal is restored when ${what}`, async (t) => {
    const server = await startShellServer(t, {})
    const terminal = openFakeTerminal(t, words, { env: envOf(server) })
    await until('the start', async () => server.received.messages.length > 0)
    assert.equal(terminal.isRaw, true)
    end(server.sockets[0]!)
    await terminal.ended()
    assert.equal(terminal.isRaw, false)
  })
}

test('at a terminal every key goes to the client, including Ctrl-C', async (t) => {
  const server = await startShellServer(t, {})
  const terminal = openTerminal(t, words, { env: envOf(server), columns: 91 })
  await until('the start', async () => server.received.messages.length > 0)
  assert.deepEqual(server.received.messages, [
    { type: 'start', words: [], terminal: { name: 'xterm-256color', cols: 91, rows: 40 } },
  ])
  terminal.type('a\x03\x04\x1a')
  await until('the keys', async () => String(Buffer.concat(server.received.bytes)) === 'a\x03\x04\x1a')
  assert.doesNotMatch(terminal.written, /a/)
})

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
  test(`the terminal is restored by ${signal}`, async (t) => {
    const server = await startShellServer(t, {})
    const args = ['--server', server.url, ...words]
    const terminal = openTerminal(t, args, { env: envOf(server), afterwards: 'stty -a' })
    await until('the start', async () => server.received.messages.length > 0)
    const [pid] = await findProcesses([process.execPath, ...berthCommand, ...args].join(' '))
    process.kill(Number(pid), signal)
    await terminal.ended()
    assert.match(terminal.written, / icanon .* echo /s)
  })
}

test('a server that is silent for a minute counts as lost, unless the socket is paused', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const socket = Object.assign(new EventEmitter(), {
    pings: 0,
    isPaused: false,
    ping: () => void socket.pings++,
  })
  let deaths = 0
  const stop = keepAlive(socket as never, () => deaths++)
  const pass = (rounds: number) => {
    for (let round = 0; round < rounds; round++) t.mock.timers.tick(20_000)
    return deaths
  }
  assert.equal(pass(3), 0)
  socket.emit('pong')
  assert.deepEqual([pass(3), socket.pings], [0, 6])
  socket.isPaused = true
  assert.equal(pass(5), 0)
  socket.isPaused = false
  assert.deepEqual([pass(2), pass(1)], [0, 1])
  stop()
  assert.equal(pass(9), 1)
})
