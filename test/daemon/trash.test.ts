// Deleted datastores on a real engine: restored ones have every byte, purged ones leave nothing.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { create, daemon, psql, redis } = site
const day = 24 * 60 * 60 * 1000

const call = (method: string, path: string, body?: object) => site.api.call(method, path, body)
const entryOf = async (id: string): Promise<Body | undefined> =>
  (await site.api.get('/trash')).find((entry: Body) => entry.id === id)
const kept = (id: string) =>
  until('it to be in the trash', async () => {
    const entry = await entryOf(id)
    return entry?.status === 'kept' && entry
  })
const containersAndVolumes = async () => {
  const { containers, volumes } = await findLeftovers(daemon.prefix)
  return { containers: containers.filter((name) => !name.includes('tool')), volumes }
}
const volumesOf = async (name: string) =>
  (await containersAndVolumes()).volumes.filter((volume) => volume.endsWith(`-${name}`))

const everyValue =
  "local all = {} for i = 1, 500 do all[i] = redis.call('get', i) end return redis.sha1hex(table.concat(all))"
const hashOf = (url: string) => redis(url, 'eval', everyValue, '0')

/** All rows and sequences, as pg_dump prints them. */
const dumped = (name: string) =>
  site.inside(
    site.containerOf(name).id,
    `pg_dump -U ${name} --inserts ${name} | grep -v -e '^--' -e restrict`,
  )

test('a Postgres is restored with every byte, password, port and settings', async () => {
  const datastore = await create({ kind: 'postgres', name: 'shop', memory_limit_mb: 200 })
  const { id, external_url: url } = datastore
  await psql(url, 'create table kept (id serial, word text, raw bytea)')
  await psql(
    url,
    "insert into kept (word, raw) select repeat('x', i), sha256(int4send(i)) from generate_series(1, 99) i",
  )
  const before = await dumped('shop')

  assert.equal((await call('DELETE', '/datastores/shop')).status, 204)
  assert.equal((await call('DELETE', '/datastores/shop')).status, 204, 'it may be said twice')
  const entry = await kept(id)

  const { deleted_at, expires_at, size_bytes, backup_id, ...rest } = entry
  assert.deepEqual(rest, {
    id,
    kind: 'datastore',
    name: 'shop',
    status: 'kept',
    datastore_kind: 'postgres',
    version: '15',
    service_name: null,
    mount_path: null,
  })
  assert.equal(Date.parse(expires_at) - Date.parse(deleted_at) > 6.9 * day, true)
  assert.ok(size_bytes > 1_000_000, `${size_bytes}`)
  const backup = await site.api.get(`/backups/${backup_id}`)
  assert.deepEqual([backup.status, backup.trigger, backup.datastore], ['good', 'final', 'shop'])
  assert.equal((await call('GET', '/datastores/shop')).status, 404)
  assert.equal((await call('GET', `/datastores/${id}`)).status, 404)
  assert.deepEqual((await containersAndVolumes()).containers, [])

  assert.deepEqual((await call('POST', `/trash/${id}/restore`, {})).body, {
    id,
    kind: 'datastore',
    name: 'shop',
  })

  const again = await site.reached('shop', 'available')
  const lasting = ({ password, external_url, memory_limit_mb, created_at }: Body) => [
    password,
    external_url,
    memory_limit_mb,
    created_at,
  ]
  assert.deepEqual(lasting(again), lasting(datastore))
  assert.equal(await dumped('shop'), before)
  assert.deepEqual(await site.api.get('/trash'), [])
})

long('a Redis is restored under a new name next to another one that took its name', async () => {
  const { id, external_url: url } = await create({ kind: 'redis', name: 'cache' })
  const raw = Array.from({ length: 256 }, (_, byte) => `\\${String(byte).padStart(3, '0')}`).join('')
  await redis(url, 'eval', `for i = 1, 500 do redis.call('set', i, "${raw}" .. i) end`, '0')
  const before = await hashOf(url)
  await call('DELETE', '/datastores/cache')
  await kept(id)

  const other = await create({ kind: 'redis', name: 'cache' })
  await redis(other.external_url, 'set', 'mine', 'other')
  const refused = await call('POST', `/trash/${id}/restore`, {})
  assert.deepEqual([refused.status, refused.body.code], [409, 'name_taken'])
  assert.match(refused.body.hint, new RegExp(`berth trash restore ${id} --name NEW`))
  assert.equal((await call('POST', `/trash/${id}/restore`, { name: 'former' })).body.name, 'former')

  const restored = await site.reached('former', 'available')
  assert.equal(restored.id, id)
  const after = await hashOf(restored.external_url)
  assert.equal(after, before)
  assert.equal(await redis(other.external_url, 'get', 'mine'), 'other')
  assert.equal(await redis(restored.external_url, 'exists', 'mine'), '0')

  await call('DELETE', '/datastores/cache?purge=true')
  await until('its end', async () => (await call('GET', '/datastores/cache')).status === 404)
  assert.equal(await entryOf(other.id), undefined)
  const third = await create({ kind: 'redis', name: 'cache' })
  assert.equal(await redis(third.external_url, 'dbsize'), '0')
  assert.equal(await redis(restored.external_url, 'dbsize'), '500')
})

test('a purge removes the volume and the final backup immediately', async () => {
  const { id } = await create({ kind: 'redis', name: 'brief' })
  await call('DELETE', '/datastores/brief')
  const { backup_id } = await kept(id)
  const { file } = await site.api.get(`/backups/${backup_id}`)
  assert.ok(existsSync(file))

  assert.equal((await call('DELETE', `/trash/${id}`)).status, 204)

  await until('its end', async () => (await volumesOf('brief')).length === 0 && !existsSync(file))
  assert.equal((await call('DELETE', `/trash/${id}`)).status, 404)
  assert.equal((await call('POST', `/trash/${id}/restore`, {})).status, 404)
})

long('a crash at any instant of a move to, from or out of the trash loses nothing', async () => {
  const { id, external_url: url } = await create({ kind: 'redis', name: 'tough' })
  await redis(url, 'set', 'word', 'kept')
  const crash = async () => {
    await daemon.kill()
    await daemon.start()
  }
  const phase = async () => (await call('GET', '/datastores/tough')).body.phase
  const moments: [string, () => Promise<unknown>][] = [
    ['at once', async () => undefined],
    ['while it is backed up', () => until('saving', async () => (await phase()) === 'saving')],
    ['when it stops', () => until('stopping', async () => (await phase()) !== 'saving')],
    ['in the trash', () => kept(id)],
  ]
  for (const [moment, come] of moments) {
    await call('DELETE', '/datastores/tough')
    await come()
    await crash()
    await kept(id)
    assert.equal((await call('POST', `/trash/${id}/restore`, {})).status, 200, moment)
    await crash()
    const { external_url } = await site.reached('tough', 'available')
    assert.equal(await redis(external_url, 'get', 'word'), 'kept', moment)
  }
  await call('DELETE', '/datastores/tough')
  await kept(id)
  await call('DELETE', `/trash/${id}`)
  await crash()
  await until('its end', async () => (await volumesOf('tough')).length === 0)
  assert.equal(await entryOf(id), undefined)
})
