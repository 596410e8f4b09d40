// A request that is sent twice under one Idempotency-Key, and where a password may be read: in the answer of
// who asks for the datastore, and nowhere else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, startDatastores } from '../../support/http/datastore-api.ts'
import { filesWith } from '../../support/storage/canary.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

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
