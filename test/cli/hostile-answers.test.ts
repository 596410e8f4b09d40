// What the command line makes of a server that speaks as no Berth server does, and of files it may not read:
// a clear word and an exit code, never a stack, a full memory or a moved cursor.
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readUntrustedFile } from '../../src/cli/config/project.ts'
import { berthEnv, runBerth } from '../support/cli/berth.ts'
import { startFakeServer } from '../support/cli/fake-server.ts'
import { openFakeTerminal } from '../support/cli/fake-terminal.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const introducer = '\u001b'
const nobody = 65_534
const events = { 'content-type': 'text/event-stream' }

test('an event that is JSON but not a log line is a failure, not a crash', async (t) => {
  for (const data of ['null', '5', '{}', '{"ts":1,"stream":"stdout","line":"x"}']) {
    const body = `event: log\ndata: ${data}\n\n`
    const { url } = await startFakeServer(t, () => ({ body, headers: events }))

    const { code, stderr } = await runBerth(t, ['logs', '--deploy', 'dep-1'], { env: { BERTH_SERVER: url } })

    assert.equal(code, 1, data)
    assert.match(stderr, /✘ the server sent an event without ts, stream, line, unlike a Berth server/)
  }
})

test('a value is printed with escapes, and cannot reach the clipboard at a terminal', async (t) => {
  const value = `a${introducer}]52;c;aGk=\u0007b`
  const { url } = await startFakeServer(t, () => ({ body: [{ key: 'EVIL', value }] }))
  const env = { BERTH_SERVER: url }

  const piped = await runBerth(t, ['env', 'shop', '--show'], { env })
  const terminal = openFakeTerminal(t, ['env', 'shop', '--show'], { env })
  await terminal.ended()

  const line = 'EVIL="a\\0033]52;c;aGk=\\ab"'
  assert.equal(piped.stdout, `${line}\n`)
  assert.ok(terminal.screen().includes(line), terminal.written)
  assert.ok(!terminal.written.includes(`${introducer}]52`))
})

test('a redirect to an address with a shell command is not shown as a command to copy', async (t) => {
  const location = 'http://h;id|sh/'
  const { url } = await startFakeServer(t, () => ({ status: 302, headers: { location } }))

  const { code, stderr } = await runBerth(t, ['services'], { env: { BERTH_SERVER: url } })

  assert.equal(code, 1)
  assert.match(stderr, /redirects to/)
  assert.ok(!stderr.includes('berth login'), stderr)
})

test('concurrent logins without a server name store every address', async (t) => {
  const env = { ...berthEnv(t, {}), BERTH_TOKEN: 'bth_x' } as Record<string, string>
  const response = () => ({ body: { version: '0.0.0' } })
  const servers = await Promise.all([1, 2, 3, 4].map(() => startFakeServer(t, response)))

  await Promise.all(servers.map(({ url }) => runBerth(t, ['login', url], { env })))

  const { stdout } = await runBerth(t, ['servers', '--json'], { env })
  const kept: { url: string }[] = JSON.parse(stdout)
  assert.deepEqual(kept.map(({ url }) => url).sort(), servers.map(({ url }) => url).sort())
})

test('an unreadable file of another user is a failure, not a crash', (t) => {
  const folder = temporaryDirectory(t)
  const path = join(folder, 'berth.json')
  writeFileSync(path, '{}')
  chmodSync(folder, 0o755)
  chmodSync(path, 0o000)

  // Root could read it anyway.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid!(nobody)
  try {
    assert.throws(() => readUntrustedFile(path, 64), { name: 'CliFailure', message: /cannot read .*EACCES/ })
  } finally {
    if (isRoot) process.seteuid!(0)
  }
})
