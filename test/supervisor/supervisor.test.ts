// The supervisor with a real LMDB store: write-ahead, restore, fences, restarts, parking.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageError } from '../../storage/store/errors.ts'
import {
  eventually,
  heldEffect,
  instant,
  type SampleEffect,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const at = instant

test('an effect starts only when the transition that requested it is on disk', async (t) => {
  const storage = await temporaryStorage(t)
  const seen: unknown[] = []
  const look: SampleEffect = async ({ id }) => {
    seen.push(storage.actors.record(id)?.status)
    return { at }
  }
  const hold = heldEffect()
  const supervisor = superviseSamples(t, { storage, effects: { work: hold.effect, clean: look } })
  await supervisor.spawn('err-1')
  await supervisor.send('err-1', { type: 'cancel', at })
  await eventually('the end', () => storage.actors.record('err-1')?.status === 'canceled')
  assert.deepEqual(seen, ['cleaning'])
})

test('a send resolves after its commit, with the new record', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  await supervisor.spawn('err-1')
  const receipt = await supervisor.send('err-1', { type: 'note', at })
  const view = { id: 'err-1', service_id: 'svc-1', status: 'working', notes: 1, error: null }
  const expected = { ...view, revision: 2, by: null }
  assert.deepEqual(receipt, { applied: true, record: expected })
  assert.deepEqual(storage.actors.record('err-1'), expected)
})

test('an event that the chart does not handle in its state is reported as not applied', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, {
    storage,
    effects: { clean: heldEffect().effect, work: heldEffect().effect },
  })
  await supervisor.spawn('err-1')
  await supervisor.send('err-1', { type: 'cancel', at })
  assert.equal((await supervisor.send('err-1', { type: 'note', at })).applied, false)
})

test('the same event id is applied once, also by a supervisor after a restart', async (t) => {
  const storage = await temporaryStorage(t)
  const effects = { work: heldEffect().effect }
  const first = superviseSamples(t, { storage, effects })
  await first.spawn('err-1')
  await first.send('err-1', { type: 'note', at }, { eventId: 'key-1' })
  await first.send('err-1', { type: 'note', at }, { eventId: 'key-1' })
  await first.stop()
  const second = superviseSamples(t, { storage, effects })
  await second.restore()
  const receipt = await second.send('err-1', { type: 'note', at }, { eventId: 'key-1' })
  assert.deepEqual([receipt.applied, receipt.record.notes], [true, 1])
  assert.equal(storage.actors.record('err-1')?.notes, 1)
})

test('concurrent spawns of one id create one actor', async (t) => {
  const storage = await temporaryStorage(t)
  let started = 0
  const work: SampleEffect = (input, signal) => {
    started++
    return heldEffect().effect(input, signal)
  }
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  const spawned = await Promise.all(Array.from({ length: 20 }, () => supervisor.spawn('err-1')))
  const record = storage.actors.record('err-1')
  const expected = spawned.map((_, index) => ({ record, duplicate: index > 0 }))
  assert.deepEqual(spawned, expected)
  assert.equal(started, 1)
})

test('after a crash of the daemon an actor continues from its last state', async (t) => {
  const storage = await temporaryStorage(t)
  const first = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  await first.spawn('err-1')
  await first.send('err-1', { type: 'note', at })
  await first.stop()
  assert.equal(storage.actors.record('err-1')?.status, 'working', 'a stop is never persisted')
  const second = superviseSamples(t, { storage })
  assert.deepEqual(await second.restore(), { restored: 1, parked: 0 })
  const record = await eventually('the end', () => {
    const found = storage.actors.record('err-1')
    return found?.status === 'done' && found
  })
  assert.equal(record.notes, 1)
  assert.deepEqual([...storage.actors.active()], [])
})

test('a cleanup waits until the aborted effect has ended', async (t) => {
  const storage = await temporaryStorage(t)
  const order: string[] = []
  let isUnderWay = false
  const slowToEnd: SampleEffect = (_, signal) =>
    new Promise((_resolve, reject) => {
      isUnderWay = true
      signal.addEventListener('abort', () =>
        setTimeout(() => {
          order.push('work ended')
          reject(signal.reason)
        }, 50),
      )
    })
  const clean: SampleEffect = async () => {
    order.push('cleanup began')
    return { at }
  }
  const supervisor = superviseSamples(t, { storage, effects: { work: slowToEnd, clean } })
  await supervisor.spawn('err-1')
  await eventually('work under way', () => isUnderWay)
  await supervisor.send('err-1', { type: 'cancel', at })
  await eventually('the end', () => storage.actors.record('err-1')?.status === 'canceled')
  assert.deepEqual(order, ['work ended', 'cleanup began'])
})

test('an effect that passes its deadline is aborted and fails with the code timeout', async (t) => {
  const storage = await temporaryStorage(t)
  const hold = heldEffect()
  const supervisor = superviseSamples(t, { storage, effects: { work: hold.effect } })
  await supervisor.spawn('err-1', { deadlineAt: Date.now() + 50 })
  const record = await eventually('the end', () => {
    const found = storage.actors.record('err-1')
    return found?.status === 'failed' && found
  })
  assert.equal(record.error, 'timeout')
})

test('an exception inside the chart rejects the event and leaves the actor unchanged', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  await supervisor.spawn('err-1')
  await assert.rejects(supervisor.send('err-1', { type: 'explode', at }), { code: 'internal_error' })
  const receipt = await supervisor.send('err-1', { type: 'note', at })
  assert.deepEqual([receipt.applied, receipt.record.notes], [true, 1])
})

test('an actor that keeps failing internally is parked, and the others continue', async (t) => {
  const storage = await temporaryStorage(t)
  let attempts = 0
  const work: SampleEffect = async ({ id }, signal) => {
    if (id !== 'err-bad') return heldEffect().effect({ id }, signal)
    attempts++
    throw Object.assign(new Error('no answer in the chart'), { code: 'bug' })
  }
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  await Promise.all([supervisor.spawn('err-bad'), supervisor.spawn('err-good')])
  const record = await eventually('parked', () => {
    const found = storage.actors.record('err-bad')
    return found?.status === 'failed' && found
  })
  assert.match(String(record.error), /^internal: /)
  assert.equal(attempts, 6, 'the first attempt and five restarts')
  assert.equal((await supervisor.send('err-good', { type: 'note', at })).applied, true)
  assert.equal((await supervisor.send('err-bad', { type: 'note', at })).applied, false)
})

test('a failed commit drops its effects and rejects waiters; the actor continues from disk', async (t) => {
  const storage = await temporaryStorage(t)
  let isFull = false
  const advance: typeof storage.actors.advance = async (transition) => {
    if (isFull) throw new StorageError('commit_failed', 'no space left')
    return storage.actors.advance(transition)
  }
  let cleanups = 0
  const clean: SampleEffect = async () => {
    cleanups++
    return { at }
  }
  const actors = new Proxy(storage.actors, {
    get(target, name) {
      if (name === 'advance') return advance
      const found = Reflect.get(target, name) as unknown
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
  const supervisor = superviseSamples(t, {
    storage: { ...storage, actors },
    effects: { work: heldEffect().effect, clean },
  })
  await supervisor.spawn('err-1')
  isFull = true
  await assert.rejects(supervisor.send('err-1', { type: 'cancel', at }), { code: 'commit_failed' })
  isFull = false
  assert.equal(cleanups, 0)
  assert.equal(storage.actors.record('err-1')?.status, 'working')
  assert.equal((await supervisor.send('err-1', { type: 'note', at })).applied, true, 'it is back')
  assert.deepEqual(
    storage.actors.history('err-1').map(({ event }) => event),
    ['created', 'note'],
  )
})

test('a snapshot of an unknown version parks its actor; with a migration it continues', async (t) => {
  const storage = await temporaryStorage(t)
  const old = superviseSamples(t, { storage, version: 1, effects: { work: heldEffect().effect } })
  await Promise.all([old.spawn('err-1'), old.spawn('err-2')])
  await old.stop()

  const migrate = (snapshot: unknown, from: number) => {
    assert.equal(from, 1)
    return snapshot
  }
  const migrating = superviseSamples(t, { storage, migrate, effects: { work: heldEffect().effect } })
  assert.deepEqual(await migrating.restore(), { restored: 2, parked: 0 })
  assert.equal((await migrating.send('err-1', { type: 'finish', at })).applied, true)
  await migrating.stop()

  const refusing = superviseSamples(t, { storage, version: 3 })
  assert.deepEqual(await refusing.restore(), { restored: 0, parked: 1 })
  assert.match(String(storage.actors.record('err-2')?.error), /^internal: its snapshot has version 1/)
})

test('the history contains every transition, with a description of what happened', async (t) => {
  const storage = await temporaryStorage(t)
  const now = () => Date.parse(at) - 1
  const supervisor = superviseSamples(t, { storage, now })
  await supervisor.spawn('err-1')
  await eventually('the end', () => storage.actors.record('err-1')?.status === 'done')
  const [created, done] = storage.actors.history('err-1')
  const before = '2025-12-31T23:59:59.999Z'
  const same = { phase: null, by: null, boot: 1 }
  const first = { state: 'working', status: 'working', revision: 1 }
  assert.deepEqual(created, { at: before, event: 'created', ...first, ...same })
  const last = { state: 'done', status: 'done', revision: 2 }
  assert.deepEqual(done, { at, event: 'work.done', ...last, ...same })
})

test('a hundred actors under load keep every acknowledged event, in a history without gaps', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  const ids = Array.from({ length: 100 }, (_, index) => `err-${index}`)
  await Promise.all(ids.map((id) => supervisor.spawn(id)))
  const sends = ids.flatMap((id) =>
    Array.from({ length: 10 }, () => supervisor.send(id, { type: 'note', at })),
  )
  const receipts = await Promise.all(sends)
  assert.ok(receipts.every(({ applied }) => applied))
  for (const id of ids) {
    assert.equal(storage.actors.record(id)?.notes, 10)
    assert.equal(storage.actors.history(id).length, 11)
  }
})
