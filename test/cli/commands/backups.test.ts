// `berth db backup`, `backups` and `restore`: bytes go through pipes and files as they are, or it is said.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createReadStream,
  createWriteStream,
  openSync,
  type ReadStream,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { Backup, Restore } from '../../../src/api/backup.ts'
import { berthEnv, runBerth } from '../../support/cli/berth.ts'
import { problem } from '../../support/cli/fake-server.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { berthCommand } from '../../support/cli/spawned.ts'
import { instant } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const content = randomBytes(1_000_001)
const shared = {
  datastore_id: 'dst-1',
  datastore: 'shop-db',
  kind: 'postgres',
  service_id: null,
  service: null,
  disk: null,
  error: null,
  phase: null,
  size_bytes: content.length,
  done_bytes: null,
  total_bytes: null,
  created_at: instant,
  finished_at: instant,
  revision: 1,
  by: null,
} as const
const good: Backup = {
  ...shared,
  id: 'bak-1',
  version: '17',
  place: 'folder',
  trigger: 'manual',
  status: 'good',
  attempts: 1,
  next_attempt_at: null,
  sha256: createHash('sha256').update(content).digest('hex'),
  file: '/var/lib/berth/backups/shop-db/shop-db-1.dump',
}
const done: Restore = {
  ...shared,
  id: 'rst-1',
  new_disk: null,
  backup_id: null,
  status: 'done',
  error_code: null,
}

interface World {
  backup: Backup
  restore: Restore
  send: (response: ServerResponse) => void
}

/** A server with one datastore, shop-db, and what was asked of it and sent to it. */
async function start(t: TestContext, changes: Partial<World> = {}) {
  const send = (response: ServerResponse) => void response.end(content)
  const world: World = { backup: good, restore: done, send, ...changes }
  const asked: string[] = []
  const sent: { body: Buffer; length: string | undefined }[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = `${request.method} ${request.url!.replace('/api/v1', '')}`
    asked.push(path)
    const body = await buffer(request)
    if (body.length > 0) sent.push({ body, length: request.headers['content-length'] })
    const json = (status: number, value: unknown) =>
      void response.writeHead(status).end(JSON.stringify(value))
    if (path.startsWith('DELETE')) return response.writeHead(204).end()
    if (path === 'GET /backups/bak-1/content') return world.send(response)
    if (path === 'GET /backups/bak-1') return json(200, world.backup)
    if (path === 'GET /restores/rst-1') return json(200, world.restore)
    if (path.startsWith('GET /backups?') || path === 'GET /backups') return json(200, [world.backup])
    if (path === 'POST /datastores/shop-db/backups')
      return json(202, { ...world.backup, status: 'running', phase: 'dumping', error: null })
    if (path.startsWith('POST /datastores/shop-db/restores'))
      return json(202, { ...world.restore, status: 'running', phase: 'checking', error: null })
    const { status, body: refusal } = problem(404, 'not_found', 'there is no such thing')
    return json(status!, refusal)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => [server.close(), server.closeAllConnections()])
  const { port } = server.address() as AddressInfo
  const env = { BERTH_SERVER: `http://127.0.0.1:${port}`, BERTH_TOKEN: 'bth_x' }
  return { asked, sent, env, berth: (...args: string[]) => runBerth(t, args, { env }) }
}

/** As `berth ARGS < INPUT > OUTPUT` in a shell. */
async function redirected(
  t: TestContext,
  env: Record<string, string>,
  args: string[],
  { input = '/dev/null', output }: { input?: string; output: string },
) {
  const stdin = createReadStream(input, { fd: openSync(input, 'r') }) as ReadStream & { fd: number }
  const stdout = createWriteStream(output)
  const ended = await runBerth(t, args, { env, stdin, stdout })
  await once(stdout.end(), 'close')
  return ended
}

test('a backup into a file is a download, and the server keeps it only on request', async (t) => {
  for (const keep of [[], ['--keep']]) {
    const { env, asked } = await start(t)
    const output = join(temporaryDirectory(t), 'shop-db.dump')

    const { code, stderr } = await redirected(t, env, ['db', 'backup', 'shop-db', ...keep], { output })

    assert.equal(code, 0, stderr)
    assert.ok(readFileSync(output).equals(content))
    assert.match(stderr, /✔ shop-db was backed up and verified/)
    const isRetained = !asked.includes('DELETE /backups/bak-1')
    assert.equal(isRetained, keep.length > 0)
  }
})

const broken: Record<string, World['send']> = {
  'breaks off': (response) => {
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.subarray(0, 1000), () => response.destroy())
  },
  'is another': (response) => void response.end(Buffer.alloc(content.length)),
}

for (const [what, send] of Object.entries(broken)) {
  test(`a download that ${what} is a failure, and the server keeps its copy`, async (t) => {
    const { env, asked } = await start(t, { send })
    const output = join(temporaryDirectory(t), 'shop-db.dump')

    const result = await redirected(t, env, ['db', 'backup', 'shop-db'], { output })
    const got = await redirected(t, env, ['db', 'backups', '--get', 'bak-1'], { output })

    for (const { code, stderr } of [result, got]) {
      assert.equal(code, what === 'breaks off' ? 5 : 1)
      assert.match(stderr, /✘ .*(closed the connection in the middle|not the one that the server verified)/)
    }
    assert.deepEqual(
      asked.filter((path) => path.startsWith('DELETE')),
      [],
    )
  })
}

test('a full disk is reported, and the server keeps its copy', async (t) => {
  const { env, asked } = await start(t)

  const child = spawn(process.execPath, [...berthCommand, 'db', 'backup', 'shop-db'], {
    env: berthEnv(t, { env }),
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  })
  const [stderr] = await Promise.all([text(child.stderr!), once(child, 'close')])

  assert.notEqual(child.exitCode, 0)
  assert.match(stderr, /ENOSPC|no space left/)
  assert.ok(!asked.includes('DELETE /backups/bak-1'))
})

test('a failed backup prints the reason and nothing on stdout', async (t) => {
  const backup: Backup = { ...good, status: 'failed', error: 'no space left' }
  const { berth } = await start(t, { backup })

  const { code, stdout, stderr } = await berth('db', 'backup', 'shop-db')

  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /✘ shop-db: no space left/)
})

test('backups are listed, shown as JSON, downloaded and deleted', async (t) => {
  const { berth, asked, env } = await start(t)
  const output = join(temporaryDirectory(t), 'shop-db.dump')

  const [list, json] = [await berth('db', 'backups', 'shop-db'), await berth('db', 'backups', '--json')]
  const got = await redirected(t, env, ['db', 'backups', '--get', 'bak-1'], { output })
  const removed = await berth('db', 'backups', '--rm', 'bak-1')

  assert.match(list.stdout, /^ID +DATASTORE +STATUS +SIZE +BY +MADE/)
  assert.match(list.stdout, /^bak-1 +shop-db +good +976\.6 KiB +hand /m)
  assert.deepEqual(JSON.parse(json.stdout), [good])
  assert.deepEqual([got.code, readFileSync(output).equals(content)], [0, true])
  assert.equal(removed.stderr, ' ✔ bak-1 is being deleted\n')
  const gets = ['GET /backups/bak-1', 'GET /backups/bak-1/content', 'DELETE /backups/bak-1']
  assert.deepEqual(asked, ['GET /backups?datastore=shop-db', 'GET /backups', ...gets])
})

test('backup --json prints the backup, which stays on the server', async (t) => {
  const { berth, asked } = await start(t)
  const { code, stdout } = await berth('db', 'backup', 'shop-db', '--json')
  assert.deepEqual([code, JSON.parse(stdout)], [0, good])
  assert.deepEqual(asked, ['POST /datastores/shop-db/backups', 'GET /backups/bak-1'])
})

test('restore sends a file with its length and a pipe as a stream, both to the last byte', async (t) => {
  const { env, sent } = await start(t)
  const folder = temporaryDirectory(t)
  const [input, output] = [join(folder, 'in'), join(folder, 'out')]
  writeFileSync(input, content)

  const file = await redirected(t, env, ['db', 'restore', 'shop-db'], { input, output })
  const piped = await runBerth(t, ['db', 'restore', 'shop-db', '--json'], { env, input: 'PGDMP and more' })

  assert.equal(file.code, 0, file.stderr)
  assert.match(file.stderr, /✔ shop-db now has the data of the file/)
  assert.deepEqual([piped.code, JSON.parse(piped.stdout)], [0, done])
  assert.deepEqual(
    sent.map(({ length }) => length),
    [String(content.length), undefined],
  )
  assert.ok(sent[0]!.body.equals(content))
  assert.equal(String(sent[1]!.body), 'PGDMP and more')
})

test('restore from a backup asks first, and a failure changes nothing', async (t) => {
  const restore: Restore = { ...done, backup_id: 'bak-1', status: 'failed', error: 'it is incomplete' }
  const { berth, sent } = await start(t, { restore })

  const asks = await berth('db', 'restore', 'shop-db', '--from', 'bak-1')
  assert.notEqual(asks.code, 0)
  assert.equal(sent.length, 0)
  const failed = await berth('db', 'restore', 'shop-db', '--from', 'bak-1', '--yes')

  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /✘ shop-db: it is incomplete\n {3}nothing was changed/)
  assert.deepEqual(JSON.parse(String(sent[0]!.body)), { backup_id: 'bak-1' })
})

test('at a terminal data is neither read nor printed', async (t) => {
  const { env, asked } = await start(t)
  const restore = openFakeTerminal(t, ['db', 'restore', 'shop-db'], { env })
  const get = openFakeTerminal(t, ['db', 'backups', '--get', 'bak-1'], { env })

  assert.deepEqual([await restore.ended(), await get.ended()], [2, 2])
  assert.match(restore.written, /read from standard input, which is a terminal/)
  assert.match(get.written, /a backup is binary data, and standard output is a terminal/)
  assert.deepEqual(asked, [])
})
