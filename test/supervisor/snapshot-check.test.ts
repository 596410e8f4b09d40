// A snapshot that does not fit the current chart parks its actor with a reason. It can be requested again.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ActorRow } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import { transitionOf, withActors } from '../support/storage/store-fixtures.ts'
import {
  eventually,
  heldEffect,
  instant,
  recordErrors,
  type SampleEffect,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const at = instant

interface Stored {
  value: string
  children: Record<string, object>
}

/** A sample that an earlier daemon left running, with a modified snapshot. */
async function storedSample(t: TestContext, change: (snapshot: Stored) => object): Promise<Storage> {
  const storage = await temporaryStorage(t)
  const first = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  await first.spawn('err-1')
  await first.stop()
  const { row, ...rest } = transitionOf({ ...(storage.actors.get('err-1') as ActorRow), revision: 2 })
  const snapshot = { ...(row.snapshot as Stored), ...change(row.snapshot as Stored) }
  await storage.actors.advance({ ...rest, row: { ...row, snapshot } })
  return storage
}

test('a stored state that is missing from the chart parks its actor', async (t) => {
  const storage = await storedSample(t, () => ({ value: 'resting' }))
  const outcome = await superviseSamples(t, { storage }).restore()
  assert.deepEqual(outcome, { restored: 0, parked: 1 })
  assert.match(String(storage.actors.get('err-1')?.parked), /^its snapshot does not fit: .*resting/)
})

test('a request for an actor whose state is still unknown is refused, and it stays parked', async (t) => {
  const storage = await storedSample(t, () => ({ value: 'resting' }))
  const supervisor = superviseSamples(t, { storage })
  await supervisor.restore()
  for (let times = 0; times < 3; times++) {
    await assert.rejects(supervisor.spawn('err-1'), /its snapshot does not fit/)
    assert.match(String(storage.actors.get('err-1')?.parked), /^its snapshot does not fit/)
  }
})

test('a running effect that the chart no longer has parks its actor', async (t) => {
  const storage = await storedSample(t, ({ children }) => ({
    children: { ...children, fetch: { ...children.work, src: 'fetch' } },
  }))
  await superviseSamples(t, { storage }).restore()
  assert.equal(storage.actors.get('err-1')?.parked, 'its effect fetch no longer exists')
})

test('an actor of an unknown kind is parked, and the others continue', async (t) => {
  const storage = await storedSample(t, () => ({}))
  await storage.actors.create(transitionOf({ id: 'old-1', kind: 'sample-of-old' }))
  const outcome = await superviseSamples(t, { storage }).restore()
  assert.deepEqual(outcome, { restored: 1, parked: 1 })
  assert.equal(storage.actors.get('old-1')?.parked, 'unknown actor kind sample-of-old')
})

test('an actor whose row is damaged when it is restored is parked', async (t) => {
  const storage = await temporaryStorage(t)
  const get = () => {
    throw new Error('the row err-1 fails its checksum')
  }
  const work: SampleEffect = () => Promise.reject(Object.assign(new Error('a bug'), { code: 'bug' }))
  const supervisor = superviseSamples(t, { storage: withActors(storage, { get }), effects: { work } })
  await supervisor.spawn('err-1')
  const reason = await eventually('parked', () => storage.actors.get('err-1')?.parked)
  assert.equal(reason, 'the row err-1 fails its checksum')
})

test('an actor that cannot be marked as parked is marked as soon as the store can write', async (t) => {
  const storage = await storedSample(t, () => ({ value: 'resting' }))
  const full = new Error('no space left')
  let refusals = 0
  const park: typeof storage.actors.park = async (...wanted) => {
    if (++refusals <= 2) throw full
    return storage.actors.park(...wanted)
  }
  const { errors, logger } = recordErrors()
  await superviseSamples(t, { storage: withActors(storage, { park }), logger }).restore()
  assert.deepEqual([refusals, storage.actors.record('err-1')?.status], [3, 'failed'])
  const { parked: reason } = storage.actors.get('err-1')!
  const refused = ['failed to mark an actor as parked', { err: full, actor: 'err-1' }]
  assert.deepEqual(errors, [['an actor is parked', { actor: 'err-1', reason }], refused, refused])
})

test('concurrent requests for a parked actor resume it once', async (t) => {
  const storage = await storedSample(t, () => ({}))
  await storage.actors.park('err-1', 'it kept failing', at)
  let started = 0
  const work: SampleEffect = (input, signal) => {
    started++
    return heldEffect().effect(input, signal)
  }
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  assert.deepEqual(await supervisor.restore(), { restored: 0, parked: 0 })

  const requested = await Promise.all([supervisor.spawn('err-1'), supervisor.spawn('err-1')])

  assert.deepEqual([requested.map(({ duplicate }) => duplicate), started], [[true, true], 1])
  assert.equal(storage.actors.get('err-1')?.parked, null)
  assert.equal((await supervisor.send('err-1', { type: 'note', at })).applied, true)
})

test('a request for an actor that is not parked returns it', async (t) => {
  const storage = await temporaryStorage(t)
  let started = 0
  const work: SampleEffect = (input, signal) => {
    started++
    return heldEffect().effect(input, signal)
  }
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  const spawned = await supervisor.spawn('err-1')
  const found = await supervisor.spawn('err-1')
  const record = {
    id: 'err-1',
    service_id: 'svc-1',
    status: 'working',
    notes: 0,
    error: null,
    revision: 1,
    by: null,
  }
  assert.deepEqual(
    [spawned, found],
    [
      { record, duplicate: false },
      { record, duplicate: true },
    ],
  )
  assert.equal(started, 1)
})
