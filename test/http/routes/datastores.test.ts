// Datastores over HTTP: every route, what each answers, and that a creation answers whatever came of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Datastore } from '../../../src/api/datastore.ts'
import { fails, hostPort, startDatastores } from '../../support/http/datastore-api.ts'
import { once, waits } from '../../support/machines/machine-run.ts'
import { filesWith } from '../../support/storage/canary.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const noImage = fails('image_not_found', 'there is no image postgres:99')
const succeeds = async () => ({ at: new Date().toISOString() })

test('a new Postgres has every field, with the defaults', async (t) => {
  const { make } = await startDatastores(t)

  const { id, password, created_at, updated_at, revision, ...datastore } = await make({ name: 'shop-db' })

  assert.match(id, /^dst-[0-9a-z]{26}$/)
  assert.match(password, /^[A-Za-z0-9]{32}$/)
  assert.equal(created_at, updated_at)
  assert.ok(Number(revision) > 0)
  const credentials = `shop_db:${password}`
  assert.deepEqual(datastore, {
    name: 'shop-db',
    kind: 'postgres',
    version: '17',
    status: 'available',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    notice: null,
    by: { kind: 'token', id: 'server', name: 'server token' },
    next_attempt_at: null,
    database: 'shop_db',
    username: 'shop_db',
    host_port: hostPort,
    internal_host: 'shop-db',
    internal_port: 5432,
    internal_url: `postgresql://${credentials}@shop-db:5432/shop_db`,
    external_url: `postgresql://${credentials}@127.0.0.1:${hostPort}/shop_db`,
    memory_limit_mb: null,
    cpu_limit: null,
    backup_schedule: null,
    backup_keep: 7,
    backup_keep_days: null,
    backup_place: null,
    shared_network: false,
    upgrade: null,
    former: null,
    next_backup_at: null,
  })
})

test('a new Redis has neither a database nor a user', async (t) => {
  const { make } = await startDatastores(t)

  const { password, ...made } = await make({ kind: 'redis', name: 'cache' })

  const { version, database, username, internal_port, internal_url, external_url } = made
  assert.deepEqual([version, database, username, internal_port], ['8', null, 'default', 6379])
  assert.equal(internal_url, `redis://default:${password}@cache:6379`)
  assert.equal(external_url, `redis://default:${password}@127.0.0.1:${hostPort}`)
})

test('the list is ordered by name, with failed datastores and those being deleted', async (t) => {
  const { call, make } = await startDatastores(t, {
    obtainImage: (input, signal) => (input.version === '99' ? noImage(input, signal) : succeeds()),
    trashDatastore: waits,
  })
  assert.deepEqual((await call('GET', '/datastores')).body, [])

  for (const name of ['b', 'c', 'a']) await make({ name, version: name === 'c' ? '99' : '17' })
  await call('DELETE', '/datastores/b')
  // Its final backup is over a moment later.
  for (let phase: unknown; phase !== 'stopping'; ) phase = (await call('GET', '/datastores/b')).body.phase

  const { body } = await call('GET', '/datastores')
  const label = (body as unknown as Datastore[]).map(({ name, status }) => [name, status])
  assert.deepEqual(label, [
    ['a', 'available'],
    ['b', 'deleting'],
    ['c', 'failed'],
  ])
  for (const one of body as unknown as Datastore[])
    assert.deepEqual((await call('GET', `/datastores/${one.name}`)).body, one)
})

test('a failed creation is 201 with the reason, and has no address before it has a port', async (t) => {
  const { call } = await startDatastores(t, { obtainImage: noImage })

  const { status, body } = await call('POST', '/datastores', { kind: 'postgres', name: 'shop-db' })

  assert.equal(status, 201)
  assert.deepEqual(
    [body.status, body.error, body.phase, body.host_port, body.external_url],
    ['failed', 'there is no image postgres:99', null, null, null],
  )
  assert.match(String(body.next_attempt_at), /^20/)
})

test('the history lists the transitions, and a restart repeats them', async (t) => {
  const { call, make, storage } = await startDatastores(t)
  const { id } = await make({ name: 'shop-db' })

  const { status, body } = await call('POST', '/datastores/shop-db/restart')

  assert.deepEqual([status, body.status, body.phase], [202, 'restarting', 'stopping'])
  await eventually('it to serve again', () => storage.actors.record(id)?.status === 'available')
  const history = (await call('GET', '/datastores/shop-db/history')).body as unknown as { state: string }[]
  const start = ['pulling', 'starting', 'probing'].map((step) => `wanted.life.starting.${step}`)
  const whole = [...start, 'wanted.life.available']
  assert.deepEqual(
    history.map(({ state }) => state.split(' ')[0]),
    [...whole, 'wanted.life.starting.stopping', ...whole],
  )
})

test('a restart retries a failed datastore and clears its error', async (t) => {
  const { call, make } = await startDatastores(t, { obtainImage: once(noImage, waits) })
  assert.equal((await make({ name: 'shop-db' })).status, 'failed')

  const { status, body } = await call('POST', '/datastores/shop-db/restart')

  assert.deepEqual([status, body.status, body.error, body.next_attempt_at], [202, 'creating', null, null])
})

const requested = { kind: 'postgres', name: 'shop-db' }
const headers = { 'idempotency-key': 'make it once' }

test('a repeated creation creates one datastore, and returns its current state', async (t) => {
  const { call } = await startDatastores(t)
  const first = await call('POST', '/datastores', requested, { headers })
  await call('PATCH', '/datastores/shop-db', { memory_limit_mb: 128 })

  const again = await call('POST', '/datastores', requested, { headers })

  assert.deepEqual([first.status, again.status, again.body.id], [201, 201, first.body.id])
  assert.deepEqual([first.body.memory_limit_mb, again.body.memory_limit_mb], [null, 128])
  assert.equal(again.body.password, first.body.password)
  assert.deepEqual(again.body, (await call('GET', '/datastores/shop-db')).body)
})

test('a creation repeated after the deletion is 404, and creates nothing', async (t) => {
  const { call, storage } = await startDatastores(t)
  await call('POST', '/datastores', requested, { headers })
  await call('DELETE', '/datastores/shop-db')
  await eventually('its name to be free', () => storage.datastores.isFree('shop-db'))

  const { status, body } = await call('POST', '/datastores', requested, { headers })

  assert.deepEqual([status, body.code], [404, 'not_found'])
  assert.deepEqual((await call('GET', '/datastores')).body, [])
  const other = await call('POST', '/datastores', requested, { headers: { 'idempotency-key': 'a new one' } })
  assert.equal(other.status, 201)
})

test('a restart with a key is one restart', async (t) => {
  const { call, make, storage } = await startDatastores(t)
  const { id } = await make({ name: 'shop-db' })
  const restarts = () => storage.actors.history(id).filter(({ event }) => event === 'restart').length

  const responses: unknown[] = []
  for (const _ of [1, 2, 3]) {
    const { status, body } = await call('POST', '/datastores/shop-db/restart', undefined, { headers })
    responses.push([status, body.id])
    await eventually('it to serve', () => storage.actors.record(id)?.status === 'available')
  }

  assert.deepEqual(responses, Array(3).fill([202, id]))
  assert.equal(restarts(), 1)
})

test('a password appears in responses about its datastore, and nowhere else', async (t) => {
  const { call, create, make, storage, url } = await startDatastores(t, {
    applyLimits: fails('docker_error', 'no'),
  })
  const events: string[] = []
  storage.changes.subscribe((change) => events.push(JSON.stringify(change)))
  const { id, password } = await make({ name: 'shop-db' }, { headers })
  const env = [{ key: 'A', value: `$\{{datastore.shop-db.password}}` }]
  await create({ name: 'web', env })

  const other = await Promise.all([
    call('GET', '/datastores/shop-db/history'),
    call('PATCH', '/datastores/shop-db', { memory_limit_mb: 64 }),
    call('DELETE', '/datastores/shop-db'),
    call('POST', '/datastores', requested),
    call('GET', '/services/web/env'),
    call('PUT', '/services/web/env?dry_run=true', { vars: [] }),
    call('GET', '/services'),
  ])
  assert.deepEqual(
    other.map(({ status }) => status),
    [200, 502, 409, 409, 200, 200, 200],
  )
  for (const { text } of other) assert.ok(!text.includes(password), text)
  assert.ok(events.length > 4)
  assert.ok(!events.join('\n').includes(password))
  assert.ok(!JSON.stringify([storage.actors.get(id), storage.actors.record(id)]).includes(password))

  const views = [
    await call('GET', '/datastores'),
    await call('GET', `/datastores/${id}`),
    await call('POST', '/datastores/shop-db/restart'),
  ]
  for (const { text } of views) assert.ok(text.includes(password))
  const foreign = await fetch(`${url}/api/v1/datastores/${id}`)
  assert.equal(foreign.status, 401)
  assert.deepEqual(filesWith(storage.directory, password), [])
})

const reference = (inner: string) => `$\{{${inner}}}`
const path = '/datastores/shop-db'

test('a datastore in use is not deleted: each variable that refers to it is named', async (t) => {
  const { call, create, make } = await startDatastores(t)
  await make({ name: 'shop-db' })
  await make({ name: 'shop-db2' })
  await create({
    name: 'web',
    env: [
      { key: 'DATABASE_URL', value: reference('datastore.shop-db.connectionString') },
      { key: 'OTHER', value: reference('datastore.shop-db2.host') },
      { key: 'PARTS', value: `a ${reference(' datastore.shop-db.user ')} b` },
      { key: 'PLAIN', value: `$${reference('datastore.shop-db.host')} datastore.shop-db.host` },
      { key: 'SERVICE', value: reference('service.shop-db.host') },
    ],
  })
  await create({ name: 'api', env: [{ key: 'PGPASSWORD', value: reference('datastore.shop-db.password') }] })

  const { status, body } = await call('DELETE', path)

  assert.deepEqual([status, body.code], [409, 'in_use'])
  assert.equal(body.detail, 'shop-db is in use by api, web')
  assert.equal(body.hint, 'berth db rm shop-db --force deletes it anyway')
  assert.deepEqual(
    body.errors,
    ['api.PGPASSWORD', 'web.DATABASE_URL', 'web.PARTS'].map((where) => ({
      path: where,
      code: 'reference',
      message: 'refers to shop-db',
    })),
  )
  assert.equal((await call('GET', path)).body.status, 'available')
})

test('a datastore in use is deleted with force, or once its references are gone', async (t) => {
  const { call, create, make, refused } = await startDatastores(t)
  for (const name of ['shop-db', 'cache']) {
    await make({ name })
    await create({ name: `of-${name}`, env: [{ key: 'A', value: reference(`datastore.${name}.host`) }] })
  }
  assert.deepEqual(await refused('DELETE', path), [409, 'in_use', 'of-shop-db.A reference'])
  assert.deepEqual(await refused('DELETE', '/datastores/shop-db?force=false'), [
    409,
    'in_use',
    'of-shop-db.A reference',
  ])

  assert.equal((await call('DELETE', `${path}?force=true`)).status, 204)
  await call('PUT', '/services/of-cache/env', { vars: [] })
  assert.equal((await call('DELETE', '/datastores/cache')).status, 204)
})

test('a datastore being deleted shows that, rejects restarts, and can be deleted again', async (t) => {
  const { call, create, make, refused } = await startDatastores(t, { trashDatastore: waits })
  await make({ name: 'shop-db' })

  assert.equal((await call('DELETE', path)).status, 204)

  assert.equal((await call('GET', path)).body.status, 'deleting')
  assert.deepEqual(await refused('POST', `${path}/restart`), [409, 'conflict'])
  assert.deepEqual(await refused('POST', '/datastores', { kind: 'redis', name: 'shop-db' }), [
    409,
    'name_taken',
  ])
  await create({ name: 'late', env: [{ key: 'A', value: reference('datastore.shop-db.host') }] })
  assert.equal((await call('DELETE', path)).status, 204)
})

test('a datastore parked after a bug is restarted, limited and deleted like any other', async (t) => {
  const { call, make, storage } = await startDatastores(t)
  for (const [name, method, tail] of [
    ['a', 'POST', '/restart'],
    ['b', 'PATCH', ''],
    ['c', 'DELETE', ''],
  ] as const) {
    const { id } = await make({ name })
    await storage.actors.park(id, 'a bug', new Date().toISOString())
    const parked = (await call('GET', `/datastores/${name}`)).body
    assert.deepEqual([parked.status, parked.error], ['failed', 'internal: a bug'])

    const { status } = await call(method, `/datastores/${name}${tail}`, method === 'PATCH' ? {} : undefined)

    assert.ok(status < 300, `${method} ${status}`)
    await eventually(`${name} to go on`, () => storage.actors.record(id)?.status !== 'failed')
  }
})

test('a dry run lists references to missing datastores', async (t) => {
  const { call, create, make } = await startDatastores(t, {
    obtainImage: (input, signal) => (input.version === '99' ? noImage(input, signal) : succeeds()),
    trashDatastore: waits,
  })
  await make({ name: 'shop-db' })
  await make({ name: 'cache', kind: 'redis' })
  await make({ name: 'never', version: '99' })
  await make({ name: 'leaving' })
  await call('DELETE', '/datastores/leaving')
  await create({ name: 'web' })
  const all = ['connectionString', 'externalConnectionString', 'host', 'port', 'user', 'password', 'database']
  const known = all.map((property) => `datastore.shop-db.${property}`)
  const missing = [
    'datastore.cache.database',
    'datastore.leaving.host',
    'datastore.never.externalConnectionString',
    'datastore.shop-db',
    'datastore.shop-db.toString',
    'datastore.unknown.host',
    'datastore.web.host',
    'service.shop-db.host',
  ]
  const requests = [...known, 'datastore.never.host', ...missing]
  const vars = requests.map((inner, index) => ({ key: `V${index}`, value: reference(inner) }))

  const { body } = await call('PUT', '/services/web/env?dry_run=true', { vars })

  const lost = (body.unresolved as string[]).map((key) => requests[Number(key.slice(1))])
  assert.deepEqual(lost.sort(), missing)
  assert.deepEqual((await call('GET', '/services/web/env')).body, [])
})
