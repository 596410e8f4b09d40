// `berth db create|update|restart|rm`: what is asked of the server, what is said, and how they fail.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cache,
  datastore,
  lost,
  password,
  respond,
  startFakeDatastores,
  starting,
} from '../../support/cli/fake-datastores.ts'
import type { ReceivedRequest } from '../../support/cli/fake-server.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'

test('db create sends its flags, and waits until the datastore is available', async (t) => {
  const looks = [datastore('new', { status: 'creating', phase: 'probing' }), datastore('new')]
  const { berth, asked } = await startFakeDatastores(t, ({ method }) => ({
    status: method === 'POST' ? 201 : 200,
    body: method === 'POST' ? datastore('new', { status: 'creating', phase: 'pulling' }) : looks.shift(),
  }))
  const flags = ['--version', '16', '--database', 'd', '--username', 'u', '--memory', '256', '--cpu', '0.5']

  const { code, stdout, stderr } = await berth('db', 'create', 'new', ...flags)

  assert.equal(code, 0, stderr)
  assert.match(stdout, /^name +new\n(.+\n)*status +available$/m)
  assert.match(stderr, / ✔ creating +new/)
  const body = { name: 'new', kind: 'postgres', version: '16', database: 'd', username: 'u' }
  assert.deepEqual(asked(), [
    ['POST', '/datastores', { ...body, memory_limit_mb: 256, cpu_limit: 0.5 }],
    ['GET', '/datastores/dst-new', undefined],
    ['GET', '/datastores/dst-new', undefined],
  ])
  assert.ok(!(stdout + stderr).includes(password))
})

test('db create sends only what was specified', async (t) => {
  const { berth, asked } = await startFakeDatastores(t, () => ({ status: 201, body: cache }))
  const { code, stdout, stderr } = await berth('db', 'create', 'cache', '-k', 'redis', '--json')
  assert.deepEqual([code, JSON.parse(stdout), stderr], [0, cache, ''])
  assert.deepEqual(asked(), [['POST', '/datastores', { name: 'cache', kind: 'redis' }]])
})

test('a failed creation ends the command with the reason and the next step', async (t) => {
  const { berth } = await startFakeDatastores(t, () => ({ status: 201, body: lost }))
  const reported = ` ✘ lost failed: there is no image postgres:99\n   ${lost.hint}\n`

  assert.deepEqual(await berth('db', 'create', 'lost'), { code: 1, stdout: '', stderr: reported })
  const json = await berth('db', 'restart', 'lost', '--json')
  assert.deepEqual([json.code, JSON.parse(json.stdout), json.stderr], [1, lost, reported])
})

test('db update changes only what is specified, and prints the new values', async (t) => {
  const single = { ...starting, cpu_limit: 1 }
  const { berth, asked } = await startFakeDatastores(t, ({ path }) =>
    path.endsWith('starting') ? { body: single } : respond({ path } as ReceivedRequest),
  )
  const [one, other, third] = [
    await berth('db', 'update', 'cache', '--memory', '256', '--cpu', '8'),
    await berth('db', 'update', 'shop-db', '--memory', '0'),
    await berth('db', 'update', 'starting', '--cpu', '1'),
  ]
  assert.deepEqual(one, {
    code: 0,
    stdout: '',
    stderr: ' ✔ cache has 256 MiB and 8 CPUs\n   the host has 2 CPUs: cpu_limit 8 is capped at 2\n',
  })
  assert.equal(other.stderr, ' ✔ shop-db has default memory and default CPUs\n')
  assert.equal(third.stderr, ' ✔ starting has default memory and 1 CPU\n')
  assert.deepEqual(asked(), [
    ['PATCH', '/datastores/cache', { memory_limit_mb: 256, cpu_limit: 8 }],
    ['PATCH', '/datastores/shop-db', { memory_limit_mb: 0 }],
    ['PATCH', '/datastores/starting', { cpu_limit: 1 }],
  ])
})

test('db rm requires the name typed at a terminal, and --yes elsewhere', async (t) => {
  const { berth, asked, env } = await startFakeDatastores(t)

  const silent = await berth('db', 'rm', 'shop-db')
  assert.equal(silent.code, 2)
  assert.match(silent.stderr, /This deletes the postgres shop-db\. Type.*\n +confirm with --yes/)
  const wrong = openFakeTerminal(t, ['db', 'rm', 'shop-db'], { env })
  await wrong.shows('Type its name:')
  wrong.type('shop\r')
  assert.equal(await wrong.ended(), 1)
  assert.ok(asked().every(([method]) => method === 'GET'))

  const right = openFakeTerminal(t, ['db', 'rm', 'shop-db'], { env })
  await right.shows('Type its name:')
  right.type('shop-db\r')
  assert.equal(await right.ended(), 0)
  assert.deepEqual(asked().at(-2), ['DELETE', '/datastores/dst-shop-db', undefined])
  await right.shows(/its data stays in the trash for 2d?.*, until 20/)
  await right.shows('undo: berth trash restore dst-shop-db')
})

test('db rm --yes does not prompt, and --force goes with the request', async (t) => {
  const { berth, asked } = await startFakeDatastores(t)
  const { code, stderr } = await berth('db', 'rm', 'cache', '--yes', '--force')
  const lines = [' ✔ cache is being deleted\n', '   its data was deleted: it is not in the trash\n']
  assert.deepEqual([code, stderr], [0, lines.join('')])
  assert.deepEqual(asked().at(-2), ['DELETE', '/datastores/dst-cache?force=true', undefined])
})

test('db rm --purge warns that all data is deleted, and skips the trash', async (t) => {
  const { berth, asked } = await startFakeDatastores(t)
  const { stderr: question } = await berth('db', 'rm', 'shop-db', '--purge')
  assert.match(question, /This deletes the postgres shop-db with all its data\. Type/)
  const { code, stderr } = await berth('db', 'rm', 'shop-db', '--yes', '--purge')
  assert.deepEqual([code, stderr], [0, ' ✔ shop-db is being deleted, with its data\n'])
  assert.deepEqual(asked().at(-1), ['DELETE', '/datastores/dst-shop-db?purge=true', undefined])
})
