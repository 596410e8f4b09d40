// Backups and restores on real servers: restored data is identical, and an incomplete file changes nothing.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { backUp, containerOf, create, ended, psql, redis, restoreFile } = site

const rows = 20_000
const digest = "select count(*) || ' ' || md5(string_agg(id || word, ',' order by id)) from things"

test('a dumped, damaged and restored database is identical to the last row', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'ledger' })
  const words = `select g as id, md5(g::text) as word from generate_series(1, ${rows}) g`
  await psql(url, `create table things as ${words}; alter table things add primary key (id)`)
  await psql(url, 'create view few as select * from things where id < 10; create sequence tickets start 42')
  const before = await psql(url, digest)

  const { file, sha256, size_bytes } = await backUp('ledger')
  const content = readFileSync(file)
  assert.deepEqual([content.length, hashOf(content)], [size_bytes, sha256])
  assert.equal(statSync(file).mode & 0o777, 0o600)

  await psql(url, 'delete from things where id % 3 = 0; update things set word = id; drop view few')
  await psql(url, 'create table newer (id int)')
  assert.notEqual(await psql(url, digest), before)

  const restored = await restoreFile('ledger', content)
  assert.deepEqual([restored.status, restored.error], ['done', null])
  assert.equal(await psql(url, digest), before)
  assert.equal(await psql(url, "select count(*) || ' ' || nextval('tickets') from few"), '9 42')
  assert.equal(await psql(url, "select to_regclass('newer') is null"), 't')
  const databases = await psql(url, 'select datname from pg_database where not datistemplate order by 1')
  assert.equal(databases, 'ledger\npostgres')
})

test('Redis has exactly the keys of its backup again, including their time to live', async () => {
  const { external_url: url } = await create({ kind: 'redis', name: 'sessions' })
  await redis(url, 'eval', "for i = 1, 5000 do redis.call('set', 'key:' .. i, 'word ' .. i) end", '0')
  await redis(url, 'rpush', 'list', 'a', 'b', 'c')
  await redis(url, 'setex', 'soon', '5000', 'gone')
  const before = await redis(url, 'dbsize')
  const { id } = await backUp('sessions')

  await redis(url, 'flushall')
  await redis(url, 'set', 'newer', 'word')
  const { id: restoreId } = await site.api.post('/datastores/sessions/restores', { backup_id: id })
  const restored = await ended('restores', restoreId)

  assert.deepEqual([restored.status, restored.error, restored.backup_id], ['done', null, id])
  const holds = async () => {
    assert.equal(await redis(url, 'dbsize'), before)
    assert.equal(await redis(url, 'get', 'key:4999'), 'word 4999')
    assert.equal(await redis(url, 'lrange', 'list', '0', '-1'), 'a\nb\nc')
    assert.equal(await redis(url, 'exists', 'newer'), '0')
    assert.ok(Number(await redis(url, 'ttl', 'soon')) > 1000)
  }
  await holds()
  // Its append-only log has the data, and it accepts writes again.
  assert.equal(await redis(url, 'set', 'after', 'word'), 'OK')
  await redis(url, 'del', 'after')
  await containerOf('sessions').kill()
  await until('it to be back', async () => (await redis(url, 'ping')) === 'PONG')
  await holds()
})

for (const kind of ['postgres', 'redis'] as const) {
  long(`a ${kind} file that is truncated or modified changes nothing`, async () => {
    const name = `safe-${kind}`
    const { external_url: url } = await create({ kind, name })
    const write = () =>
      kind === 'postgres' ? psql(url, 'create table kept as select 1 as one') : redis(url, 'set', 'one', '1')
    const read = () => (kind === 'postgres' ? psql(url, 'select one from kept') : redis(url, 'get', 'one'))
    await write()
    const { file } = await backUp(name)
    const whole = readFileSync(file)
    const cut = [1, 10, Math.floor(whole.length / 2)].map((bytes) => whole.subarray(0, -bytes))
    const changed = Buffer.from(whole)
    changed[changed.length - 9]! ^= 0xff

    for (const content of [...cut, changed]) {
      const { status, error } = await restoreFile(name, content)
      assert.equal(status, 'failed')
      assert.match(error, /^it is incomplete: /)
      assert.equal(await read(), '1')
    }
  })
}

long('data that cannot be loaded leaves the previous data and no remains', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'odd' })
  // The file needs objects that existed in the old server but not in the new one.
  await psql(url, 'create role helper; create table t (id int); create policy p on t to helper')
  const { file } = await backUp('odd')
  const content = readFileSync(file)
  await psql(url, 'drop policy p on t; drop role helper; create table kept as select 7 as seven')

  const { status, error } = await restoreFile('odd', content)
  assert.equal(status, 'failed')
  assert.match(error, /role "helper" does not exist/)
  assert.equal(await psql(url, 'select seven from kept'), '7')
  const databases = await psql(url, 'select count(*) from pg_database where datname like $$berth%$$')
  assert.equal(databases, '0')
})

long('a backup outlives its datastore, and can be restored to another one', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'former' })
  await psql(url, 'create table kept as select 1 as one')
  const { id, file } = await backUp('former')
  await site.api.call('DELETE', '/datastores/former?purge=true')
  await until('it to be gone', async () => (await site.api.call('GET', '/datastores/former')).status === 404)
  const found = await site.api.get('/backups?datastore=former')
  assert.deepEqual(
    found.map((backup: Body) => backup.id),
    [id],
  )

  const next = await create({ kind: 'postgres', name: 'next', database: 'other' })
  const { id: restoreId } = await site.api.post('/datastores/next/restores', { backup_id: id })
  assert.equal((await ended('restores', restoreId)).status, 'done')
  assert.equal(await psql(next.external_url, 'select one from kept'), '1')

  assert.equal((await site.api.call('DELETE', `/backups/${id}`)).status, 204)
  await until('it to be gone', async () => (await site.api.call('GET', `/backups/${id}`)).status === 404)
  assert.ok(!existsSync(file))
})

long('a schedule creates backups automatically, and keeps the configured number', async () => {
  await create({ kind: 'redis', name: 'hourly', backup_schedule: '@hourly', backup_keep: 2 })
  const datastore = await site.api.get('/datastores/hourly')
  assert.deepEqual([datastore.backup_schedule, datastore.backup_keep], ['@hourly', 2])
  assert.match(datastore.next_backup_at, /:00:00\.000Z$/)
  await site.api.patch('/datastores/hourly', { backup_schedule: '* * * * *', backup_keep: 1 })
  const scheduled = async () => (await site.api.get('/backups?datastore=hourly')) as Body[]
  const first = await until('the first', async () =>
    (await scheduled()).find(({ status }) => status === 'good'),
  )
  assert.equal(first.trigger, 'schedule')
  const second = await until('the second alone', async () => {
    const [newest, ...others] = await scheduled()
    return newest?.status === 'good' && newest.id !== first.id && others.length === 0 && newest
  })
  assert.ok(existsSync(second.file) && !existsSync(first.file))
  await site.api.patch('/datastores/hourly', { backup_schedule: '' })
})

test('the backups leave nothing in Docker', async () => {
  for (const { name } of await site.api.get('/datastores')) {
    await site.api.call('DELETE', `/datastores/${name}?force=true&purge=true`)
  }
  await until('all to be gone', async () => (await site.api.get('/datastores')).length === 0)
  const { containers } = await findLeftovers(site.daemon.prefix)
  assert.deepEqual(containers, [])
})

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
