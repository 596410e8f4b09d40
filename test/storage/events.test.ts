// Applied events: stored with their response in the same commit, and deleted after their lifetime.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { rawTables, serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test("a transition's event is stored in its commit, with the response", async (t) => {
  const storage = await temporaryStorage(t)
  const seen: unknown[] = []
  storage.changes.subscribe(() => seen.push(storage.events.get('key-1')))
  await storage.actors.create(transitionOf({ id: 'dep-1' }, { event: 'key-1' }))

  await storage.actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, { status: 'live' }))

  const record = { id: 'dep-1', service_id: 'svc-1', status: 'queued', revision: 1, by: null }
  const response = { at: instant, body: record }
  deepEqual(seen, [response, response])
})

test('the event of a refused commit is not stored', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  const event = { id: 'key-1', answer: {} }

  await rejects(storage.services.create(serviceRow({ id: 'svc-2' }), { event }), { code: 'name_taken' })
  const also = () => {
    throw new Error('half way')
  }
  await rejects(
    storage.services.update('svc-1', (row) => row, { also, event }),
    { message: 'half way' },
  )

  equal(storage.events.get('key-1'), null)
})

test('a response can be stored alone, for a request that changed nothing', async (t) => {
  const { events } = await temporaryStorage(t)

  await events.record('key-1', instant, { id: 'dep-1' })

  deepEqual(events.get('key-1'), { at: instant, body: { id: 'dep-1' } })
})

test('the request is stored with the response and found only by its key', async (t) => {
  const { events } = await temporaryStorage(t)

  await events.record('key-1#this', instant, { id: 'dep-1' })

  const response = { at: instant, body: { id: 'dep-1' }, asked: 'this' }
  deepEqual(['key-1', 'key-1#this', 'key-1#that'].map(events.get), [response, response, response])
})

test('all events before an instant are deleted, and later ones stay', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const apply = (id: string, at: string) => storage.events.record(id, at, id)
  const old = Array.from({ length: 2500 }, (_, index) => apply(`old-${index}`, '2026-01-01T00:00:00.000Z'))
  await Promise.all([...old, apply('z', '2026-01-01T23:59:59.999Z'), apply('a', '2026-01-02T00:00:00.000Z')])

  await storage.events.forgetBefore('2026-01-02T00:00:00.000Z')

  deepEqual([storage.events.get('old-7'), storage.events.get('z')], [null, null])
  deepEqual(storage.events.get('a'), { at: '2026-01-02T00:00:00.000Z', body: 'a' })
  await storage.close()
  const tables = await rawTables(directory)
  deepEqual([tables.events?.length, tables.events_by_time?.length], [1, 1])
})
