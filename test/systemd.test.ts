// What systemd and the journal get from a process that launch.pl became: on sockets that this test opens.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from './support/docker/docker-site.ts'
import { temporaryDirectory } from './support/system/directory.ts'

const home = fileURLToPath(new URL('..', import.meta.url))

/** Prints what a socket gets, a message a line: Node cannot open it. */
const listener = `
  use Socket; $| = 1;
  socket(my $socket, AF_UNIX, SOCK_DGRAM, 0); bind($socket, pack_sockaddr_un($ARGV[0])) or die;
  while (defined recv($socket, my $message, 65536, 0)) { $message =~ s/\\n/ /g; print "$message\\n"; }
`

async function listen(t: TestContext) {
  const path = join(temporaryDirectory(t), 'notify')
  const child = spawn('perl', ['-e', listener, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await until('the socket', async () => existsSync(path))
  return { path, messages: linesOf(child) }
}

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = []
  child.stdout!.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')))
  return lines
}

function launch(t: TestContext, path: string, body: string, env = {}) {
  const program = `import { openSystemd } from './src/systemd.ts'; const systemd = openSystemd(); ${body}`
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', program]
  const child = spawn('perl', ['systemd/launch.pl', ...node], {
    cwd: home,
    env: { ...process.env, NOTIFY_SOCKET: path, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('systemd hears of the start, of the event loop, and of the end', async (t) => {
  const { path, messages } = await listen(t)
  const body = `
    process.on('SIGTERM', () => { systemd.stopping(); process.exit() })
    setInterval(() => {}, 1000)
    systemd.ready('fine')`

  const child = launch(t, path, body, { WATCHDOG_USEC: '400000' })

  await until('two signs of life', async () => messages.filter((line) => line === 'WATCHDOG=1').length > 1)
  child.kill('SIGTERM')
  await once(child, 'exit')
  await until('the end', async () => messages.at(-1) === 'STOPPING=1 STATUS=stopping')
  assert.deepEqual(messages.slice(0, 2), ['EXTEND_TIMEOUT_USEC=60000000', 'READY=1 STATUS=fine'])
})

test('an event loop that is blocked gives no sign of life', async (t) => {
  const { path, messages } = await listen(t)
  const body = `
    systemd.ready('fine')
    for (const end = Date.now() + 1500; Date.now() < end; );
    process.exit()`

  await once(launch(t, path, body, { WATCHDOG_USEC: '400000' }), 'exit')

  assert.equal(messages.filter((line) => line === 'WATCHDOG=1').length, 0)
})

test('programs that the daemon starts get no socket of systemd', async (t) => {
  const { path } = await listen(t)
  const body = `
    const { execFileSync } = await import('node:child_process')
    const { readlinkSync } = await import('node:fs')
    const socket = readlinkSync('/proc/self/fd/3')
    const files = execFileSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' })
    console.log(process.env.BERTH_NOTIFY_FD, socket.startsWith('socket:'), files.includes(socket))`

  const child = launch(t, path, body)
  const lines = linesOf(child)
  await once(child, 'exit')

  assert.deepEqual(lines, ['undefined true false'])
})
