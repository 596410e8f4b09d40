// When a datastore is backed up by itself, and how many of those are kept, as its API takes and refuses it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startBackups } from '../../support/http/backup-api.ts'

async function start(t: TestContext) {
  const api = await startBackups(t)
  await api.datastoreOf('shop-db')
  return api
}

test('a datastore is created with a normalized schedule, and keeps seven backups by default', async (t) => {
  const { call } = await start(t)
  const make = async (name: string, plan: object) => {
    const { status, body } = await call('POST', '/datastores', { kind: 'redis', name, ...plan })
    return [status, body.backup_schedule, body.backup_keep, body.next_backup_at !== null]
  }

  assert.deepEqual(await make('none', {}), [201, null, 7, false])
  assert.deepEqual(await make('empty', { backup_schedule: '' }), [201, null, 7, false])
  assert.deepEqual(await make('null', { backup_schedule: null, backup_keep: null }), [201, null, 7, false])
  assert.deepEqual(await make('daily', { backup_schedule: ' @daily ' }), [201, '@daily', 7, true])
  const fields = { backup_schedule: ' 0  3 * *\t1-5', backup_keep: 1000 }
  assert.deepEqual(await make('fields', fields), [201, '0 3 * * 1-5', 1000, true])
})

test('an invalid schedule is rejected and changes nothing', async (t) => {
  const { call, refused } = await start(t)
  await call('PATCH', '/datastores/shop-db', { backup_schedule: '@weekly' })

  for (const backup_schedule of ['whenever', '0 0 3 * * *', '0 0 30 2 *']) {
    const response = [400, 'invalid_request', 'backup_schedule invalid']
    assert.deepEqual(await refused('PATCH', '/datastores/shop-db', { backup_schedule }), response)
    const body = { kind: 'redis', name: 'wrong-db', backup_schedule }
    assert.deepEqual(await refused('POST', '/datastores', body), response)
  }
  const { body } = await call('GET', '/datastores/shop-db')
  assert.equal(body.backup_schedule, '@weekly')
})

test('a PATCH changes only its fields; an empty schedule, unlike null, disables backups', async (t) => {
  const { call } = await start(t)
  const change = async (fields: object) => {
    const { status, body } = await call('PATCH', '/datastores/shop-db', fields)
    return [
      status,
      body.backup_schedule,
      body.backup_keep,
      body.memory_limit_mb,
      body.next_backup_at !== null,
    ]
  }

  assert.deepEqual(await change({ backup_schedule: '@daily' }), [200, '@daily', 7, null, true])
  assert.deepEqual(await change({ backup_keep: 2 }), [200, '@daily', 2, null, true])
  assert.deepEqual(await change({ memory_limit_mb: 64 }), [200, '@daily', 2, 64, true])
  const both = { backup_schedule: '@hourly', memory_limit_mb: 128 }
  assert.deepEqual(await change(both), [200, '@hourly', 2, 128, true])
  assert.deepEqual(await change({ backup_schedule: '' }), [200, null, 2, 128, false])
  await change({ backup_schedule: '@daily' })
  assert.deepEqual(await change({ backup_schedule: null, backup_keep: null }), [200, '@daily', 2, 128, true])
})
