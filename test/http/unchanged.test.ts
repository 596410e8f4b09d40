// Requests without a change commit nothing, and objects that are being deleted block nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startChecked } from '../support/http/checked-api.ts'
import { fails, startDatastores } from '../support/http/datastore-api.ts'
import { once } from '../support/machines/machine-run.ts'

test('a PATCH with unchanged values changes no timestamp and reports no change', async (t) => {
  const { call, create, get, storage } = await startChecked(t)
  await create({ name: 'shop', port: 3000 })
  const before = await get('shop')
  const reported: unknown[] = []
  t.after(storage.changes.subscribe((change) => void reported.push(change)))

  const { status, body } = await call('PATCH', '/services/shop', { port: 3000, instances: 1 })

  assert.deepEqual([status, body, reported], [200, before, []])
  const again = await call('PATCH', '/services/shop', { port: 3001 })
  assert.notEqual(again.body.updated_at, before.updated_at)
  assert.equal(reported.length, 1)
})

for (const [what, same, other] of [
  ['limits', { memory_limit_mb: 256, cpu_limit: 0.5 }, { cpu_limit: 0.25 }],
  ['backups', { backup_schedule: '0 3 * * *', backup_keep: 3 }, { backup_keep: 4 }],
  ['no limits', {}, { cpu_limit: 0.25 }],
] as const) {
  test(`a PATCH of a datastore with unchanged values changes nothing (${what})`, async (t) => {
    let applied = 0
    const applyLimits = async () => {
      applied++
      return { at: new Date().toISOString(), notice: null }
    }
    const { call, make, storage } = await startDatastores(t, { applyLimits })
    await make({ name: 'shop', ...same, shared_network: true })
    const { body: before } = await call('GET', '/datastores/shop')
    const reported: unknown[] = []
    t.after(storage.changes.subscribe((change) => void reported.push(change)))

    const { status, body } = await call('PATCH', '/datastores/shop', { ...same, shared_network: true })

    assert.deepEqual([status, body, reported, applied], [200, before, [], 0])
    const again = await call('PATCH', '/datastores/shop', other)
    assert.notEqual(again.body.updated_at, before.updated_at)
    assert.ok(reported.length > 0)
  })
}

test('limits that could not be applied are retried by a PATCH with the same values', async (t) => {
  const at = new Date().toISOString()
  const applyLimits = once(fails('docker_error', 'too small'), async () => ({ at, notice: null }))
  const { call, make, refused } = await startDatastores(t, { applyLimits })
  await make({ name: 'shop' })
  assert.equal((await refused('PATCH', '/datastores/shop', { memory_limit_mb: 128 }))[1], 'docker_error')
  const { status, body } = await call('PATCH', '/datastores/shop', { memory_limit_mb: 128 })
  assert.deepEqual([status, body.memory_limit_mb], [200, 128])
})

test('saving unchanged registry credentials keeps their timestamps', async (t) => {
  const { call, storage } = await startChecked(t)
  const ada = { username: 'ada', password: 'one' }
  const { body: first } = await call('PUT', '/registries/ghcr.io', ada)
  assert.deepEqual((await call('PUT', '/registries/ghcr.io', ada)).body, first)
  await call('PUT', '/registries/ghcr.io', { ...ada, password: 'two' })
  assert.equal(storage.registries.get('ghcr.io')?.password, 'two')
})

test('repeating a PATCH that changed nothing returns the first response', async (t) => {
  const { call, create } = await startChecked(t)
  await create({ name: 'shop', instances: 1 })
  const headers = { 'idempotency-key': 'same' }
  const first = await call('POST', '/services/shop/scale', { instances: 1 }, { headers })
  const second = await call('POST', '/services/shop/scale', { instances: 1 }, { headers })
  assert.deepEqual([second.status, second.body], [first.status, first.body])
})

test('the references of a service that is being deleted no longer count', async (t) => {
  const { call, create, refused } = await startChecked(t)
  await create({ name: 'ra' })
  await create({ name: 'rb', env: [{ key: 'A', value: '$' + '{{service.ra.host}}' }] })
  assert.deepEqual((await refused('DELETE', '/services/ra')).slice(0, 2), [409, 'in_use'])
  assert.equal((await call('DELETE', '/services/rb')).status, 204)
  assert.equal((await call('DELETE', '/services/ra')).status, 204)
})
