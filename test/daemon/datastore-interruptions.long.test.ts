// Backups and restores that are interrupted by the end of the daemon or of the datastore itself.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'

const site = await openDatastoreSite(fileScope())
const { backUp, containerOf, create, ended, psql, redis } = site

interface Store {
  /** Replaces its data with a new generation. */
  write(generation: string): Promise<unknown>
  /** The distinct generations of its data. */
  read(): Promise<string>
}

const rows = 20_000

async function openStore(kind: 'postgres' | 'redis', name: string): Promise<Store> {
  const { external_url: url } = await create({ kind, name })
  if (kind === 'postgres') {
    const fill = (generation: string) =>
      `drop table if exists things; create table things as
       select g as id, '${generation}' as generation from generate_series(1, ${rows}) g`
    return {
      write: (generation) => psql(url, fill(generation)),
      read: () => psql(url, "select count(*) || ' ' || string_agg(distinct generation, ',') from things"),
    }
  }
  const fill = `redis.call('flushall') for i = 1, ${rows} do redis.call('set', i, ARGV[1]) end`
  const look = `local seen, words = {}, {}
    for i = 1, ${rows} do seen[redis.call('get', i) or 'none'] = true end
    for word in pairs(seen) do table.insert(words, word) end
    return redis.call('dbsize') .. ' ' .. table.concat(words, ',')`
  return {
    write: (generation) => redis(url, 'eval', fill, '0', generation),
    read: () => redis(url, 'eval', look, '0'),
  }
}

async function reachPhase(id: string, phase: string): Promise<void> {
  await until(`${id} to be ${phase}`, async () => {
    const now = await site.api.get(`/restores/${id}`)
    return now.phase === phase || now.finished_at !== null
  })
}

for (const kind of ['postgres', 'redis'] as const) {
  test(`a daemon killed in the middle of a backup or a restore of ${kind} ends it`, async () => {
    const name = `cut-${kind}`
    const store = await openStore(kind, name)
    await store.write('first')
    const { id } = await site.api.post(`/datastores/${name}/backups`)
    await site.daemon.kill()
    await site.daemon.start()
    const { status, file } = await ended('backups', id)
    assert.equal(status, 'good')
    assert.deepEqual(
      readdirSync(join(file, '..')).filter((found) => found.endsWith('.part')),
      [],
    )

    for (const phase of ['checking', 'loading', 'switching']) {
      await store.write(phase)
      const { id: restoreId } = await site.api.post(`/datastores/${name}/restores`, { backup_id: id })
      await reachPhase(restoreId, phase)
      await site.daemon.kill()
      await site.daemon.start()
      assert.equal((await ended('restores', restoreId)).status, 'done')
      assert.equal(await store.read(), `${rows} first`)
    }
  })

  test(`${kind} killed while it is restored has all its data, or all of the backup`, async () => {
    const name = `lost-${kind}`
    const store = await openStore(kind, name)
    await store.write('backup')
    const { id } = await backUp(name)
    for (const phase of ['loading', 'switching']) {
      await store.write('before')
      const { id: restoreId } = await site.api.post(`/datastores/${name}/restores`, { backup_id: id })
      await reachPhase(restoreId, phase)
      await containerOf(name).kill()

      const { status } = await ended('restores', restoreId)
      const found = await until('it to be back', store.read)
      assert.equal(found, `${rows} ${status === 'done' ? 'backup' : 'before'}`, `${phase}: ${status}`)
    }
  })
}

test('a restore that is canceled before it switches changes nothing', async () => {
  const store = await openStore('postgres', 'canceled')
  await store.write('backup')
  const { id } = await backUp('canceled')
  await store.write('before')
  const { id: restoreId } = await site.api.post('/datastores/canceled/restores', { backup_id: id })

  const { status, body } = await site.api.call('POST', `/restores/${restoreId}/cancel`)

  assert.equal(status, 202, JSON.stringify(body))
  const restored = await ended('restores', restoreId)
  assert.deepEqual([restored.status, restored.error], ['canceled', 'canceled by the server token'])
  assert.equal(await store.read(), `${rows} before`)
})
