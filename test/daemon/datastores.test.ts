// The use of datastores: creating, connecting from the host and from services,
// limiting, restarting, removing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { long, sized } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { api, containerOf, create, docker, psql, redis } = site
const { prefix } = site.daemon

for (const version of sized(['18'], ['15', '18'])) {
  test(`Postgres with the data layout of version ${version} works, and keeps its data`, async () => {
    const name = `pg-${version}`
    const datastore = await create({ kind: 'postgres', name, version })
    assert.match(
      datastore.external_url,
      new RegExp(`^postgresql://user_pg_${version}:\\w{32}@127.0.0.1:25\\d{3}/pg_${version}$`),
    )
    await psql(datastore.external_url, 'create table kept (word text); insert into kept values (1), (2)')

    const { Mounts } = await containerOf(name).inspect()
    assert.deepEqual(
      Mounts.map(({ Destination, Name }) => [Destination, Name]),
      [
        [
          version === '18' ? '/var/lib/postgresql' : '/var/lib/postgresql/data',
          `${prefix}-datastore-${name}`,
        ],
      ],
    )
    await containerOf(name).remove({ force: true, v: true })
    await until(
      'the data',
      async () => (await psql(datastore.external_url, 'select count(*) from kept')) === '2',
    )
  })
}

test('Redis serves the host only with its password, and keeps its data', async () => {
  const { external_url: url, host_port, username, database } = await create({ kind: 'redis', name: 'cache' })
  assert.deepEqual([username, database], ['default', null])
  assert.equal(await redis(url, 'set', 'word', 'kept'), 'OK')
  assert.match(await redis(`redis://127.0.0.1:${host_port}`, 'get', 'word'), /NOAUTH/)

  await containerOf('cache').kill()
  await until('the data', async () => (await redis(url, 'get', 'word')) === 'kept')
})

test('a service reaches both by references in its env, which are resolved at its start', async () => {
  const pg = await create({ kind: 'postgres', name: 'orders' })
  const store = await create({ kind: 'redis', name: 'queue' })
  const { Config } = await containerOf('orders').inspect()
  const reference = (name: string, property: string) => `\${{datastore.${name}.${property}}}`
  const env = [
    { key: 'DATABASE_URL', value: reference('orders', 'connectionString') },
    { key: 'REDIS_URL', value: reference('queue', 'connectionString') },
    {
      key: 'PARTS',
      value: ['host', 'port', 'user', 'database'].map((part) => reference('orders', part)).join(' '),
    },
    { key: 'OUTSIDE', value: reference('orders', 'externalConnectionString') },
  ]
  const settings = { type: 'background_worker', start_command: 'sleep 3600', image: Config.Image, env }
  const { latest_deploy } = await api.post('/services', { name: 'app', ...settings })
  assert.equal((await finishedDeploy(api, latest_deploy.id)).status, 'live')

  const { instances } = await api.get('/services/app/status')
  const script =
    'psql -XAtq "$DATABASE_URL" -c "select 6 * 7"; echo "$PARTS"; echo "$OUTSIDE"; echo "$REDIS_URL"'
  const output = await site.inside(instances[0].container_id, script)
  assert.deepEqual(output.split('\n'), [
    '42',
    'orders 5432 orders orders',
    pg.external_url,
    store.internal_url,
  ])

  const refused = await api.call('DELETE', '/datastores/orders')
  assert.deepEqual([refused.status, refused.body.code], [409, 'in_use'])
  assert.deepEqual(
    refused.body.errors.map(({ path }: { path: string }) => path),
    ['app.DATABASE_URL', 'app.PARTS', 'app.OUTSIDE'].sort(),
  )
  assert.equal((await api.call('DELETE', '/datastores/orders?force=true&purge=true')).status, 204)
  await until('its end', async () => (await api.call('GET', '/datastores/orders')).status === 404)
  const restart = await finishedDeploy(api, (await api.post('/services/app/restart')).id)
  assert.equal(restart.status, 'failed')
  assert.match(restart.error, /refers to \$\{\{datastore\.orders\./)
})

long('Redis has three quarters of its limit for data: at its start, after a change and a crash', async () => {
  const { external_url: url } = await create({ kind: 'redis', name: 'small', memory_limit_mb: 64 })
  const maxmemory = async () => (await redis(url, 'config', 'get', 'maxmemory')).split('\n')[1]
  assert.equal(await maxmemory(), String(48 * 2 ** 20))
  await api.patch('/datastores/small', { memory_limit_mb: 128 })
  assert.equal(await maxmemory(), String(96 * 2 ** 20))
  await containerOf('small').kill()
  await until('the limit again', async () => (await maxmemory()) === String(96 * 2 ** 20))
})

long('an existing volume is neither used nor removed', async (t) => {
  const name = `${prefix}-datastore-old`
  await docker.createVolume({ Name: name, Labels: { 'berth.instance': prefix } })
  t.after(() => docker.getVolume(name).remove())

  const refused = await api.call('POST', '/datastores', { kind: 'redis', name: 'old', version: '7' })

  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  assert.match(refused.body.detail, /already exists/)
  assert.equal((await docker.getVolume(name).inspect()).Name, name)
  assert.equal((await api.call('GET', '/datastores/old')).status, 404)
})

test('a deleted datastore leaves no container, volume or name', async () => {
  await create({ kind: 'redis', name: 'gone' })
  await create({ kind: 'redis', name: 'stays' })
  assert.equal((await api.call('DELETE', '/datastores/gone?purge=true')).status, 204)
  await until('its end', async () => (await api.call('GET', '/datastores/gone')).status === 404)
  const { containers, volumes } = await findLeftovers(prefix)
  assert.deepEqual(
    [...containers, ...volumes].filter((name) => /-(gone|stays)$/.test(name)),
    [`${prefix}-datastore-stays`, `${prefix}-datastore-stays`],
  )
  assert.equal((await create({ kind: 'redis', name: 'gone' })).status, 'available')
})
