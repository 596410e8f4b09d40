// The stored activity: bounded by number and by age, and read without decoding what a filter leaves out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../../storage/index.ts'
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
