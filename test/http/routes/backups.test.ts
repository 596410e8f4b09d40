// Backups over HTTP: starting, listing, downloading and deleting them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFileSync, rmSync, truncateSync } from 'node:fs'
import { basename } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Backup } from '../../../src/api/backup.ts'
import { type BackupApi, startBackups } from '../../support/http/backup-api.ts'
import { token } from '../../support/http/http-context.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const dump = (sizeBytes: number) => Buffer.concat([Buffer.from('PGDMP'), randomBytes(sizeBytes - 5)])

async function start(t: TestContext) {
  const api = await startBackups(t)
  await api.datastoreOf('shop-db')
  return api
}

test('a requested backup runs, and names its datastore', async (t) => {
  const { call, storage, context } = await start(t)
  const { id: datastoreId } = (await call('GET', '/datastores/shop-db')).body

  const { status, body } = await call('POST', '/datastores/shop-db/backups')

  const { id, created_at, file, ...rest } = body as unknown as Backup
  assert.equal(status, 202)
  assert.match(id, /^bak-/)
  const stamp = created_at.replace(/\.\d+|[-:]/g, '')
  assert.equal(file, `${context.config.backupDir}/shop-db/shop-db-${stamp}-${id.slice(-6)}.dump`)
  assert.equal(storage.actors.record(id)!.status, 'running')
  assert.deepEqual(rest, {
    datastore_id: datastoreId,
    datastore: 'shop-db',
    kind: 'postgres',
    service_id: null,
    service: null,
    disk: null,
    version: '17',
    place: 'folder',
    trigger: 'manual',
    status: 'running',
    phase: 'dumping',
    error: null,
    error_code: null,
    error_details: null,
    attempts: 1,
    next_attempt_at: null,
    size_bytes: null,
    done_bytes: null,
    total_bytes: null,
    sha256: null,
    finished_at: null,
    revision: 1,
    by: { kind: 'token', id: 'server', name: 'server token' },
  })
})

test('the progress of a backup is the current one of its effect', async (t) => {
  const { begun, backup, context } = await start(t)
  const { id } = await begun('shop-db')

  context.observe.progress = (of) => (of === id ? { doneBytes: 7, totalBytes: 12 } : null)

  const { done_bytes, total_bytes } = await backup(id)
  assert.deepEqual([done_bytes, total_bytes], [7, 12])
})

test('an unavailable datastore is not backed up, and neither is a missing one', async (t) => {
  const { refused, call, world, datastoreOf } = await start(t)
  world.areServing = false
  await datastoreOf('away-db')

  assert.deepEqual(await refused('POST', '/datastores/away-db/backups'), [409, 'conflict'])
  const { body } = await call('POST', '/datastores/away-db/backups')
  assert.equal(body.detail, 'away-db is failed: no space left')
  assert.deepEqual(await refused('POST', '/datastores/none/backups'), [404, 'not_found'])
  assert.deepEqual((await call('GET', '/backups')).body, [])
})

test('the list is newest first, and can be filtered by the name or id of a datastore', async (t) => {
  const { begun, call, refused, datastoreOf } = await start(t)
  await datastoreOf('other-db', 'redis')
  const first = await begun('shop-db')
  const second = await begun('other-db')
  const third = await begun('shop-db')
  const idsOf = async (query: string) =>
    ((await call('GET', `/backups${query}`)).body as unknown as Backup[]).map(({ id }) => id)

  assert.deepEqual(await idsOf(''), [third.id, second.id, first.id])
  assert.deepEqual(await idsOf('?datastore=shop-db'), [third.id, first.id])
  assert.deepEqual(await idsOf(`?datastore=${second.datastore_id}`), [second.id])
  assert.deepEqual(await idsOf('?datastore=none'), [])
  assert.deepEqual(await refused('GET', '/backups?of=shop-db'), [400, 'invalid_request', 'of unknown_key'])
})

test('a deleted backup is gone everywhere, and cannot be deleted again', async (t) => {
  const { kept, begun, call, refused, storage } = await start(t)
  const { id } = await kept('shop-db')
  const { id: running } = await begun('shop-db')

  for (const one of [id, running]) {
    assert.equal((await call('DELETE', `/backups/${one}`)).status, 204)
    await eventually('it is gone', () => storage.actors.record(one)?.status === 'deleted')
    assert.deepEqual(await refused('DELETE', `/backups/${one}`), [404, 'not_found'])
  }
  assert.deepEqual((await call('GET', '/backups')).body, [])
})

test('a backup in use by a restore is not deleted', async (t) => {
  const { kept, call, refused, goOn, storage } = await start(t)
  const { id } = await kept('shop-db')
  const restored = (await call('POST', '/datastores/shop-db/restores', { backup_id: id })).body

  assert.deepEqual(await refused('DELETE', `/backups/${id}`), [409, 'in_use'])

  for (let phase = 0; phase < 4; phase++) await goOn(String(restored.id))
  await eventually('it is done', () => storage.actors.record(String(restored.id))?.status === 'done')
  assert.equal((await call('DELETE', `/backups/${id}`)).status, 204)
})

const download = ({ url }: BackupApi, id: string, authorization = `Bearer ${token}`) =>
  fetch(`${url}/api/v1/backups/${id}/content`, { headers: { authorization } })

test('the content of a backup is its file, byte for byte, with its name', async (t) => {
  const api = await start(t)
  for (const sizeBytes of [6, 64 * 1024, 3_000_001]) {
    const content = dump(sizeBytes)
    const { id, file } = await api.kept('shop-db', content)

    const response = await download(api, id)

    assert.deepEqual(
      [response.status, Buffer.from(await response.arrayBuffer()).equals(content)],
      [200, true],
    )
    assert.deepEqual(
      ['content-length', 'content-type', 'content-disposition', 'cache-control'].map((name) =>
        response.headers.get(name),
      ),
      [String(sizeBytes), 'application/octet-stream', `attachment; filename="${basename(file)}"`, 'no-store'],
    )
  }
})

test('an incomplete backup has no content', async (t) => {
  const { kept, begun, refused, call, fails } = await start(t)
  const running = await begun('shop-db')
  const [grown, cut, gone] = [await kept('shop-db'), await kept('shop-db'), await kept('shop-db')]
  const failed = await begun('shop-db')
  await fails(failed.id, 'no space left')
  appendFileSync(grown.file, 'x')
  truncateSync(cut.file, 3)
  rmSync(gone.file)

  const why: Record<string, string> = {}
  for (const { id } of [running, failed, grown, cut, gone]) {
    assert.deepEqual(await refused('GET', `/backups/${id}/content`), [409, 'conflict'])
    why[id] = String((await call('GET', `/backups/${id}/content`)).body.detail)
  }
  assert.deepEqual(why, {
    [running.id]: 'the backup is running, not good',
    [failed.id]: 'the backup is failed, not good',
    [grown.id]: `${grown.file} has changed since it was verified`,
    [cut.id]: `${cut.file} has changed since it was verified`,
    [gone.id]: `${gone.file} no longer exists`,
  })
})

test('a repetition with the same key returns the same backup in its current state', async (t) => {
  const { call, goOn, reached } = await start(t)
  const ask = (key: string, name = 'shop-db') =>
    call('POST', `/datastores/${name}/backups`, undefined, { headers: { 'idempotency-key': key } })

  const [first, second] = await Promise.all([ask('k'), ask('k')])
  const { id } = first.body
  await goOn(String(id), { sizeBytes: 12, sha256: 'ab' })
  await reached(String(id), 'checking')
  const third = await ask('k')

  assert.deepEqual(
    [first, second, third].map(({ status, body }) => [status, body.id]),
    [
      [202, id],
      [202, id],
      [202, id],
    ],
  )
  assert.deepEqual([third.body.phase, third.body.size_bytes], ['checking', 12])
  assert.notEqual((await ask('other')).body.id, id)
})

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
