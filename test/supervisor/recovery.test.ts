// How the supervisor handles bugs, a store that cannot write, misfits of snapshots, and a stop.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ActorRow } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import { StorageError } from '../../storage/store/errors.ts'
import { transitionOf, withActors } from '../support/storage/store-fixtures.ts'
import { toRecord } from '../support/supervisor/sample-machine.ts'
import {
  eventually,
  heldEffect,
  instant,
  recordErrors,
  type SampleEffect,
  type Supervised,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const at = instant
const full = new StorageError('commit_failed', 'no space left')

/** Fails a given number of times with an error that the chart does not handle, then waits. */
function failing(error: Error, times: number) {
  const hold = heldEffect()
  const run = { attempts: 0 }
  const work: SampleEffect = (input, signal) => {
    run.attempts++
    return run.attempts <= times ? Promise.reject(error) : hold.effect(input, signal)
  }
  return { run, work }
}

const bug = () => Object.assign(new Error('no answer in the chart'), { code: 'bug' })

test('an actor that was restarted five times is parked at the next bug, with the reason', async (t) => {
  const storage = await temporaryStorage(t)
  const first = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  await first.spawn('err-1')
  await first.stop()
  await storage.actors.countRestart('err-1', 5)
  const { run, work } = failing(bug(), 1)

  const second = superviseSamples(t, { storage, effects: { work } })
  await second.restore()

  const row = await eventually('parked', () => storage.actors.get('err-1')?.parked)
  assert.equal(row, 'no answer in the chart')
  assert.equal(storage.actors.record('err-1')?.error, 'internal: no answer in the chart')
  assert.equal(run.attempts, 1)
})

test('a counted bug is on record, and the actor continues', async (t) => {
  const storage = await temporaryStorage(t)
  const { work } = failing(bug(), 2)
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  await supervisor.spawn('err-1')
  await eventually('the second restart', () => storage.actors.get('err-1')?.restarts === 2)

  const receipt = await supervisor.send('err-1', { type: 'note', at })

  assert.deepEqual([receipt.applied, storage.actors.get('err-1')?.restarts], [true, 2])
})

test('an effect that fails because the store cannot write does not count against the actor', async (t) => {
  const storage = await temporaryStorage(t)
  const hold = heldEffect()
  const first = superviseSamples(t, { storage, effects: { work: hold.effect, clean: hold.effect } })
  await first.spawn('err-1')
  await first.send('err-1', { type: 'cancel', at })
  await first.stop()
  await storage.actors.countRestart('err-1', 5)
  const { run, work } = failing(full, 2)

  const second = superviseSamples(t, { storage, effects: { clean: work } })
  await second.restore()

  await eventually('the third attempt', () => run.attempts === 3)
  const { parked, restarts } = storage.actors.get('err-1')!
  assert.deepEqual([parked, restarts], [null, 5])
})

test('an actor restarts even if the restart cannot be counted because the store cannot write', async (t) => {
  const storage = await temporaryStorage(t)
  let refusals = 0
  const countRestart = () => {
    refusals++
    return Promise.reject(full)
  }
  const { run, work } = failing(bug(), 1)
  const supervisor = superviseSamples(t, {
    storage: withActors(storage, { countRestart }),
    effects: { work },
  })
  await supervisor.spawn('err-1')

  await eventually('the second attempt', () => run.attempts === 2)

  assert.deepEqual([refusals, storage.actors.get('err-1')?.parked], [1, null])
  assert.equal((await supervisor.send('err-1', { type: 'note', at })).applied, true)
})

test('if creating the record fails, the event is refused and the actor continues from disk', async (t) => {
  const storage = await temporaryStorage(t)
  const brokenAtTwo: typeof toRecord = (snapshot) => {
    if (snapshot.context.notes === 2) throw new Error('two notes have no words')
    return toRecord(snapshot)
  }
  const supervisor = superviseSamples(t, {
    storage,
    effects: { work: heldEffect().effect },
    toRecord: brokenAtTwo,
  })
  await supervisor.spawn('err-1')
  await supervisor.send('err-1', { type: 'note', at })

  const refused = supervisor.send('err-1', { type: 'note', at })

  await assert.rejects(refused, { code: 'internal_error', message: 'two notes have no words' })
  assert.equal((await supervisor.send('err-1', { type: 'cancel', at })).applied, true)
  const events = storage.actors.history('err-1').map(({ event }) => event)
  assert.deepEqual(events.slice(0, 3), ['created', 'note', 'cancel'])
})

test('a pending commit at the stop is reported to its sender, and starts nothing', async (t) => {
  const storage = await temporaryStorage(t)
  let cleanups = 0
  let letThrough = () => {}
  const gate = new Promise<void>((resolve) => (letThrough = resolve))
  const advance: typeof storage.actors.advance = (transition) =>
    gate.then(() => storage.actors.advance(transition))
  const clean: SampleEffect = async () => {
    cleanups++
    return { at }
  }
  const supervisor = superviseSamples(t, {
    storage: withActors(storage, { advance }),
    effects: { work: heldEffect().effect, clean },
  })
  await supervisor.spawn('err-1')
  const sent = supervisor.send('err-1', { type: 'cancel', at })
  await new Promise((resolve) => setImmediate(resolve))

  const stopped = supervisor.stop()
  letThrough()
  await stopped

  assert.equal((await sent).applied, true)
  assert.deepEqual([storage.actors.record('err-1')?.status, cleanups], ['cleaning', 0])
})

test('after the stop nothing is applied, started or restarted', async (t) => {
  const storage = await temporaryStorage(t)
  const { run, work } = failing(bug(), 1)
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  await supervisor.spawn('err-1')
  await eventually('the first attempt', () => run.attempts === 1)

  await supervisor.stop()

  assert.equal((await supervisor.send('err-1', { type: 'note', at })).applied, false)
  await supervisor.spawn('err-2')
  assert.deepEqual([run.attempts, storage.actors.record('err-2')?.status], [1, 'working'])
})

test('an event that waits for an actor to restart is answered at the stop', async (t) => {
  const storage = await temporaryStorage(t)
  const { run, work } = failing(bug(), 1)
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  await supervisor.spawn('err-1')
  await eventually('the first attempt', () => run.attempts === 1)
  const sent = supervisor.send('err-1', { type: 'note', at })

  await supervisor.stop()

  assert.equal((await sent).applied, false)
})

test('a deadline that passed while the daemon was down gets a minimum; a new one does not', async (t) => {
  const storage = await temporaryStorage(t)
  const [leftMs, backMs] = [Date.parse(at), Date.parse(at) + 60_000]
  const effects = { work: heldEffect().effect }
  const first = superviseSamples(t, { storage, effects, now: () => leftMs })
  await first.spawn('err-1', { deadlineAt: leftMs + 1000 })
  await first.stop()

  const second = superviseSamples(t, { storage, effects, now: () => backMs })
  await second.restore()
  await second.spawn('err-2', { deadlineAt: backMs - 1000 })

  await eventually('the new one out of time', () => storage.actors.record('err-2')?.status === 'failed')
  assert.equal(storage.actors.record('err-1')?.status, 'working')
})

test('every internal error is in the log, with its actor', async (t) => {
  const storage = await temporaryStorage(t)
  const { errors, logger } = recordErrors()
  const unusual = new TypeError('x is not a function')
  const effects: Supervised['effects'] = {
    work: ({ id }, signal) =>
      id === 'err-odd' ? Promise.reject(unusual) : heldEffect().effect({ id }, signal),
    clean: () => Promise.reject(bug()),
  }
  const supervisor = superviseSamples(t, { storage, logger, effects })
  await supervisor.spawn('err-odd')
  await supervisor.spawn('err-1')
  await assert.rejects(supervisor.send('err-1', { type: 'explode', at }))
  await supervisor.send('err-1', { type: 'cancel', at })
  await eventually('the restart', () => errors.length === 3)

  const about = errors.map(([message, fields]) => {
    const { err, ...rest } = fields as { err: Error }
    return [message, rest, err.message]
  })
  assert.deepEqual(about, [
    ['an effect failed with an internal error', { actor: 'err-odd', slot: 'work' }, 'x is not a function'],
    ['an event was rejected', { actor: 'err-1', event: 'explode' }, 'boom'],
    ['restarting an actor from disk', { actor: 'err-1', restarts: 1 }, 'no answer in the chart'],
  ])
})

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
