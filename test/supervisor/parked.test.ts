// Every kind of actor is parked in every resting state of its chart and recovered, also after a restart: it
// is resumed, or discarded if its stored state is lost.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalogue, type Kind, type KindName } from '../../machines/index.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { flipOnDisk, storedRows } from '../support/daemon/damage.ts'
import { endlessEffects, type RestingActor, restingActors } from '../support/storage/parked-kinds.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { instant as at, silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const resting = restingActors()
const kinds = Object.keys(catalogue) as KindName[]

function supervise(t: TestContext, storage: Storage): Supervisor {
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger })
  supervisor.provide(endlessEffects())
  t.after(() => supervisor.stop(1000))
  return supervisor
}

async function stored(t: TestContext, { transition }: RestingActor): Promise<Storage> {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  await storage.actors.create(transition)
  return storage
}

const parkedIn = (storage: Storage) => [...storage.actors.parked()].map(({ id, code }) => [id, code])

test('the fixture has an actor of every kind in every state', () => {
  assert.deepEqual([...new Set(resting.map(({ kind }) => kind))], kinds)
  const states = resting.filter(({ kind }) => kind === 'edge').map(({ state }) => state)
  const all = ['starting', 'serving', 'upgrading', 'waiting', 'stopping', 'lingering', 'off']
  assert.deepEqual(states, all)
})

for (const kind of kinds) {
  test(`a recovered ${kind} continues from each state, once, and across a restart`, async (t) => {
    for (const one of resting.filter((actor) => actor.kind === kind)) {
      const storage = await stored(t, one)
      const { id, state, record } = one
      await storage.actors.park(id, 'a bug', at)
      const first = supervise(t, storage)
      assert.deepEqual(await first.restore(), { restored: 0, parked: 0 }, state)
      assert.deepEqual(parkedIn(storage), [[id, 'failed_repeatedly']], state)

      const requested = await Promise.allSettled([first.retry(id), first.retry(id)])

      assert.deepEqual(
        requested.map((response) =>
          response.status === 'fulfilled' ? response.value : response.reason.code,
        ),
        [record, 'not_parked'],
        state,
      )
      const view = { ...record, revision: 3, by: null }
      assert.deepEqual([storage.actors.record(id), parkedIn(storage)], [view, []], state)
      assert.equal(storage.actors.history(id).at(-1)?.event, 'retried', state)
      await first.stop()
      assert.deepEqual(await supervise(t, storage).restore(), { restored: 1, parked: 0 }, state)
    }
  })

  test(`a ${kind} in a state that the chart no longer has is not resumed, but discarded`, async (t) => {
    for (const one of resting.filter((actor) => actor.kind === kind)) {
      const storage = await stored(t, one)
      const { id, state, transition } = one
      const snapshot = { ...(transition.row.snapshot as object), value: 'of an older version' }
      const row = { ...transition.row, revision: 2, snapshot }
      await storage.actors.advance({ ...transition, row })
      const first = supervise(t, storage)
      assert.deepEqual(await first.restore(), { restored: 0, parked: 1 }, state)
      assert.deepEqual(parkedIn(storage), [[id, 'snapshot_misfit']], state)

      await discard(first, one)

      await first.stop()
      await assertNothingParked(t, storage, one)
    }
  })
}

test('a snapshot with a wrong checksum parks its actor, which is discarded', async (t) => {
  const directory = temporaryDirectory(t)
  const chosen = kinds.map((kind) => resting.find((one) => one.kind === kind)!)
  const before = await temporaryStorage(t, directory)
  await before.services.create(serviceRow())
  for (const { transition } of chosen) await before.actors.create(transition)
  await before.close()
  const rows = (await storedRows(directory)).filter(({ table }) => table === 'actors')
  for (const row of rows) await flipOnDisk(directory, row)
  const storage = await temporaryStorage(t, directory)
  const first = supervise(t, storage)
  await first.restore()
  const expected = chosen.map(({ id }) => id).sort()
  const codes = new Map(parkedIn(storage) as [string, string][])
  assert.deepEqual([[...codes.keys()].sort(), new Set(codes.values())], [expected, new Set(['row_damaged'])])

  for (const one of chosen) await discard(first, one)

  await first.stop()
  const after = await supervise(t, storage).restore()
  assert.deepEqual([after.parked, parkedIn(storage)], [0, []])
})

test('a discarded actor is recreated on the next request for its id', async (t) => {
  const one = resting.find(({ kind }) => kind === 'cron-schedule')!
  const storage = await stored(t, one)
  await storage.actors.park(one.id, 'a bug', at)
  const supervisor = supervise(t, storage)
  await supervisor.discard(one.id)
  const plan = { schedule: '5 4 * * *', timezone: 'UTC', isSuspended: false }

  const { duplicate } = await supervisor.spawn('cron-schedule', one.id, {
    id: one.id,
    serviceId: 'svc-1',
    plan,
    at,
  })

  assert.deepEqual([duplicate, storage.actors.record(one.id)?.schedule], [false, '5 4 * * *'])
  assert.equal(storage.actors.history(one.id).at(-2)?.event, 'discarded')
})

async function discard(supervisor: Supervisor, { id, kind, state }: RestingActor) {
  await assert.rejects(supervisor.retry(id), { code: 'not_recoverable' }, `${kind} ${state}`)
  const { status = 'failed' } = (catalogue[kind] as Kind).discarded ?? {}
  assert.equal((await supervisor.discard(id)).status, status, `${kind} ${state}`)
  await assert.rejects(supervisor.discard(id), { code: 'not_parked' })
}

async function assertNothingParked(t: TestContext, storage: Storage, { state }: RestingActor) {
  const { restored, parked } = await supervise(t, storage).restore()
  assert.deepEqual([restored, parked, parkedIn(storage)], [0, 0, []], state)
}
