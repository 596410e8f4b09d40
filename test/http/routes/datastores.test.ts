// Datastores over HTTP: every route, what each answers, and that a creation answers whatever came of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Datastore } from '../../../src/api/datastore.ts'
import { fails, hostPort, once, startDatastores, waits } from '../../support/http/datastore-api.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const noImage = fails('image_missing', 'there is no image postgres:99')
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
    shared_network: false,
    upgrade: null,
    former: null,
    next_backup_at: null,
  })
})

test('a new Redis has neither a database nor a user', async (t) => {
  const { make } = await startDatastores(t)

  const { id, password, created_at, updated_at, revision, ...datastore } = await make({
    kind: 'redis',
    name: 'cache',
  })

  assert.deepEqual(datastore, {
    name: 'cache',
    kind: 'redis',
    version: '8',
    status: 'available',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    notice: null,
    by: { kind: 'token', id: 'server', name: 'server token' },
    next_attempt_at: null,
    database: null,
    username: 'default',
    host_port: hostPort,
    internal_host: 'cache',
    internal_port: 6379,
    internal_url: `redis://default:${password}@cache:6379`,
    external_url: `redis://default:${password}@127.0.0.1:${hostPort}`,
    memory_limit_mb: null,
    cpu_limit: null,
    backup_schedule: null,
    backup_keep: 7,
    shared_network: false,
    upgrade: null,
    former: null,
    next_backup_at: null,
  })
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
