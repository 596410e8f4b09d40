// The stored activity: bounded by number and by age, and read without decoding what a filter leaves out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../../storage/index.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'

const dayMs = 24 * 60 * 60 * 1000
const entry = { event: 'x', state: 'live', status: 'live', phase: null, by: null, revision: 1, boot: 1 }

function keep(
  storage: Storage,
  count: number,
  ats: (number: number) => string = () => instant,
): Promise<void> {
  return storage.commit(() => {
    for (let number = 1; number <= count; number++) {
      const kind = number === 1 ? 'edge' : 'deploy'
      storage.activity.keep(number, null, { actor_id: 'dep-1', kind, at: ats(number), ...entry })
    }
  })
}

const numbersOf = ({ activity }: Storage) =>
  activity.page({ limit: Number.POSITIVE_INFINITY, accepts: () => true }).records.map(({ number }) => number)

test('the newest 50,000 entries stay', async (t) => {
  const storage = await temporaryStorage(t)
  await keep(storage, 52_500)
  await storage.activity.trim(Date.parse(instant))

  const oldest = storage.activity.page({ limit: 1, before: 2502, accepts: () => true })
  assert.deepEqual(
    oldest.records.map(({ number }) => number),
    [2501],
  )
  assert.equal(oldest.next, null)
})

test('entries older than 90 days go', async (t) => {
  const storage = await temporaryStorage(t)
  await keep(storage, 3, (number) => new Date(Date.parse(instant) + number * dayMs).toISOString())
  await storage.activity.trim(Date.parse(instant) + 92.5 * dayMs)

  assert.deepEqual(numbersOf(storage), [3])
})

test('a terminal login that is not decided leaves nothing, so strangers push nothing out', async (t) => {
  const storage = await temporaryStorage(t)
  const states = ['pending', 'expired', 'approved.issuing', 'denied']
  await storage.commit(() => {
    for (const [number, state] of states.entries()) {
      const moved = { actor_id: 'cli-1', kind: 'terminal-login', at: instant, ...entry, state }
      storage.activity.keep(number + 1, null, moved)
    }
  })
  assert.deepEqual(numbersOf(storage), [4, 3])
})

test('a filter that accepts little ends its page early, and the next page continues', async (t) => {
  const storage = await temporaryStorage(t)
  await keep(storage, 15_000)
  const accepts = ({ kind }: { kind: string }) => kind === 'edge'

  const first = storage.activity.page({ limit: 10, accepts })
  assert.deepEqual([first.records, first.next], [[], 5001])
  const second = storage.activity.page({ limit: 10, accepts, before: first.next! })
  assert.deepEqual([second.records.map(({ number }) => number), second.next], [[1], null])
})

function keeperOf(storage: Storage) {
  let number = 0
  return (...ids: string[]) =>
    storage.commit(() => {
      const moved = { actor_id: 'x-1', kind: 'datastore', at: instant, ...entry }
      for (const id of ids) storage.activity.keep(++number, id, moved)
    })
}

test('what is gone keeps its last name, and a restored datastore has its new one', async (t) => {
  const storage = await temporaryStorage(t)
  const { datastores, services } = storage
  const keepFor = keeperOf(storage)
  await services.create(serviceRow())
  await storage.commit(() => datastores.insert('dst-1', 'cache', 'secret'))
  await keepFor('svc-1', 'dst-1')
  await datastores.trash('dst-1')
  await datastores.restoreFromTrash('dst-1', 'cache-2')
  await services.remove('svc-1')
  await keepFor('svc-1', 'dst-1')
  await datastores.remove('dst-1')
  await keepFor('dst-1')

  const { records } = storage.activity.page({ limit: 5, accepts: () => true })
  const names = records.map(({ service_name }) => service_name)
  assert.deepEqual(names, ['cache-2', 'cache-2', 'shop', 'cache', 'shop'])
})

test('only the newest thousand names of what is gone are remembered', async (t) => {
  const storage = await temporaryStorage(t)
  const ids = Array.from({ length: 1001 }, (_, index) => `svc-${index}`)
  const keepFor = keeperOf(storage)
  await Promise.all(ids.map((id) => storage.services.create(serviceRow({ id, name: id }))))
  await keepFor(...ids)
  await Promise.all(ids.map((id) => storage.services.remove(id)))
  await keepFor(...ids)

  const { records } = storage.activity.page({ limit: 1001, accepts: () => true })
  const unnamed = records.filter(({ service_name }) => service_name === null)
  assert.deepEqual(
    unnamed.map(({ service_id }) => service_id),
    ['svc-0'],
  )
})
