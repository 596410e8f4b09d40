// What the command line does with folders and servers that mean it ill: it neither obeys nor hangs nor
// fills the memory, and says what is wrong.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runBerth } from '../support/cli/berth.ts'
import { startFakeServer } from '../support/cli/fake-server.ts'
import { openTerminal } from '../support/cli/pty.ts'
import { until } from '../support/daemon/service.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const info = { version: '0.0.0' }
const nobody = 65_534
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
const controls = /[\x00-\x09\x0b-\x1f\x7f\x9b]/

/** A server that says yes to all, and a user who may ask it. */
async function knownServer(t: TestContext, response: (path: string) => unknown = () => info) {
  const server = await startFakeServer(t, ({ path }) => ({ body: response(path) }))
  return { server, env: { BERTH_SERVER: server.url, BERTH_TOKEN: 'bth_x' } }
}

test('a project file owned by another user is ignored', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can give a file away')
  const { server, env } = await knownServer(t)
  const above = temporaryDirectory(t)
  const folder = join(above, 'mine')
  mkdirSync(folder)
  writeFileSync(join(above, 'berth.json'), '{"service":"shop"}')
  writeFileSync(join(folder, 'index.html'), 'mine')
  chownSync(join(above, 'berth.json'), nobody, nobody)

  const { code, stderr } = await runBerth(t, ['up', '--yes'], { env, cwd: folder })

  assert.equal(code, 1)
  assert.match(stderr, /berth\.json belongs to another user/)
  assert.deepEqual(
    server.requests.filter(({ method }) => method !== 'GET'),
    [],
  )
})

test('a project file that is large or not a regular file does not hang the command', async (t) => {
  const { env } = await knownServer(t)
  const make: Record<string, (path: string) => void> = {
    'not a regular file': (path) => symlinkSync('/dev/zero', path),
    'is not a regular file': (path) => void execFileSync('mkfifo', [path]),
    'larger than 64 KiB': (path) => writeFileSync(path, ' '.repeat(70_000)),
    'contains an invalid service name': (path) => writeFileSync(path, '{"service":"shop\\u001b[2J"}'),
  }

  for (const [words, put] of Object.entries(make)) {
    const cwd = temporaryDirectory(t)
    put(join(cwd, 'berth.json'))
    const { code, stderr } = await runBerth(t, ['show'], { env, cwd })
    assert.ok(code === 1 || code === 2, `${words}: ${code}`)
    assert.ok(stderr.includes(words), stderr)
    assert.doesNotMatch(stderr, controls)
  }
})

test('an ignore file that is a device, or takes hours to match, is rejected by name', async (t) => {
  const { env } = await knownServer(t)
  const device = temporaryDirectory(t)
  symlinkSync('/dev/zero', join(device, '.berthignore'))
  const slow = temporaryDirectory(t)
  writeFileSync(join(slow, '.gitignore'), `*.log\n${'**/a/'.repeat(12)}b\n`)

  for (const [cwd, words] of [
    [device, /\.berthignore is not a regular file/],
    [slow, /\.gitignore:2 has more than 4 \*\* in one pattern/],
  ] as const) {
    writeFileSync(join(cwd, 'index.html'), 'page')
    const { code, stderr } = await runBerth(t, ['up', 'shop', '--yes'], { env, cwd })
    assert.equal(code, 1)
    assert.match(stderr, words)
  }
})

test('names from a server cannot move the cursor', async (t) => {
  const evil = '\u001b[2J\u009b1;1Hevil'
  const deploy = { id: `dep-1${evil}`, service_id: 'svc-1', status: 'failed', phase: evil, error: evil }
  const times = { created_at: '2026-01-01T00:00:00.000Z', started_at: null, finished_at: null }
  const { env } = await knownServer(t, (path) => {
    if (path.includes('/history'))
      return [{ at: times.created_at, state: evil, status: 'queued', phase: evil }]
    if (path.includes('/logs')) return ''
    if (path.startsWith('/api/v1/deploys/')) return { ...deploy, ...times, source: { kind: evil } }
    return { id: 'svc-1', name: evil }
  })

  const { stdout, stderr } = await runBerth(t, ['why', 'dep-1'], { env })

  assert.match(stdout, /evil/)
  assert.doesNotMatch(stdout + stderr, controls)
})

/** A server whose every answer unpacks to blanks without an end. */
async function bomb(t: TestContext, contentType: string, text: string) {
  const packed = gzipSync(text)
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': contentType, 'content-encoding': 'gzip' })
    response.end(packed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { BERTH_SERVER: `http://127.0.0.1:${port}`, BERTH_TOKEN: 'bth_x' }
}

test('a response that decompresses to an excessive size is cut off', async (t) => {
  const env = await bomb(t, 'application/json', ' '.repeat(80 * 1024 * 1024))

  const { code, stderr } = await runBerth(t, ['show', 'shop'], { env })

  assert.equal(code, 1)
  assert.match(stderr, /response of the server is larger than 64 MiB/)
})

test('an endless event and an event that is not JSON are failures, not crashes', async (t) => {
  const endless = await bomb(t, 'text/event-stream', `data: ${'x'.repeat(3 * 1024 * 1024)}`)
  const nonsense = await bomb(t, 'text/event-stream', 'event: log\ndata: nojson\n\n')

  const first = await runBerth(t, ['logs', '--deploy', 'dep-1', '-f'], { env: endless })
  const second = await runBerth(t, ['logs', '--deploy', 'dep-1'], { env: nonsense })

  assert.match(first.stderr, /an event without an end, unlike a Berth server/)
  assert.match(second.stderr, /an event that is not JSON, unlike a Berth server/)
  assert.deepEqual([first.code, second.code], [1, 1])
})

test('a hint to copy contains no foreign command', async (t) => {
  const cwd = temporaryDirectory(t)
  writeFileSync(join(cwd, 'berth.json'), '{"server":"http://h/;id|sh"}')

  const { stderr } = await runBerth(t, ['services'], { cwd })

  assert.match(stderr, /if you trust it: berth login URL;/)
})

for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) {
  test(`variables open in an editor are removed from the disk after ${signal}`, async (t) => {
    const { env } = await knownServer(t, () => [{ key: 'DB', value: 'canary-env-secret' }])
    const folder = temporaryDirectory(t)
    const [editor, pidFile] = [join(folder, 'editor'), join(folder, 'pid')]
    writeFileSync(
      editor,
      `#!/bin/sh\necho $PPID > ${pidFile}.new\nmv ${pidFile}.new ${pidFile}\nexec sleep 60\n`,
      {
        mode: 0o700,
      },
    )
    const edits = () => readdirSync(folder).filter((name) => name.startsWith('berth-edit-'))
    const options = { env: { ...env, EDITOR: editor, XDG_RUNTIME_DIR: folder } }
    openTerminal(t, ['env', 'edit', 'shop'], options)
    await until('the editor', async () => existsSync(pidFile))
    assert.equal(edits().length, 1)

    process.kill(Number(readFileSync(pidFile, 'utf8')), signal)

    await until('nothing to be left', async () => edits().length === 0)
  })
}
