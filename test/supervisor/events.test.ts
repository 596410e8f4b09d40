// Requests to the supervisor: receipts, restarts, and a store that cannot write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReceipts } from '../../src/supervisor/actor-factory.ts'
import { createRestartPolicy } from '../../src/supervisor/restarts.ts'
import { StorageError } from '../../storage/store/errors.ts'
import { withActors } from '../support/storage/store-fixtures.ts'
import {
  eventually,
  heldEffect,
  instant,
  type SampleEffect,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const at = instant
const full = new StorageError('commit_failed', 'no space left')

test('an event to an unknown actor is refused', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage })
  await assert.rejects(supervisor.send('err-9', { type: 'note', at }), {
    code: 'not_found',
    message: 'there is no err-9',
  })
})

test('a preview is the record that a spawn commits, and commits nothing', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  const by = { kind: 'server' as const, id: null, name: null }
  const preview = supervisor.preview('err-1', by)
  assert.equal(storage.actors.record('err-1'), null)
  const { record } = await supervisor.spawn('err-1')
  assert.deepEqual(preview, { ...record, by })
})

test('the request that created an actor is stored with its response', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  const { record } = await supervisor.spawn('err-1', {}, { eventId: 'key-1' })
  assert.deepEqual(storage.events.get('key-1')?.body, record)
})

test('an actor that could not be stored can be requested again', async (t) => {
  const storage = await temporaryStorage(t)
  let refusals = 0
  const create: typeof storage.actors.create = (transition) => {
    if (refusals++ === 0) return Promise.reject(full)
    return storage.actors.create(transition)
  }
  const effects = { work: heldEffect().effect }
  const supervisor = superviseSamples(t, { storage: withActors(storage, { create }), effects })
  await assert.rejects(supervisor.spawn('err-1'), { code: 'commit_failed' })
  assert.equal((await supervisor.spawn('err-1')).duplicate, false)
})

test('an actor whose chart refuses its input is not created', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage })
  await assert.rejects(supervisor.spawn('err-1', { isOdd: true }), {
    code: 'internal_error',
    message: 'an odd sample has no context',
  })
  assert.equal(storage.actors.record('err-1'), null)
})

test('an event that arrives while the end is being written is not applied', async (t) => {
  const storage = await temporaryStorage(t)
  let letThrough = () => {}
  const gate = new Promise<void>((resolve) => (letThrough = resolve))
  const advance: typeof storage.actors.advance = (transition) =>
    gate.then(() => storage.actors.advance(transition))
  const supervisor = superviseSamples(t, {
    storage: withActors(storage, { advance }),
    effects: { work: heldEffect().effect },
  })
  await supervisor.spawn('err-1')
  const finished = supervisor.send('err-1', { type: 'finish', at })
  await new Promise((resolve) => setImmediate(resolve))

  const late = await supervisor.send('err-1', { type: 'note', at })
  letThrough()

  assert.deepEqual([late.applied, (await finished).applied], [false, true])
})

test('a refused request also rejects the requests behind it, and the actor restarts once', async (t) => {
  const storage = await temporaryStorage(t)
  const offered: number[] = []
  const advance: typeof storage.actors.advance = (transition) => {
    offered.push(transition.row.revision)
    return offered.length === 1 ? Promise.reject(full) : storage.actors.advance(transition)
  }
  let started = 0
  const work: SampleEffect = (input, signal) => {
    started++
    return heldEffect().effect(input, signal)
  }
  const supervisor = superviseSamples(t, { storage: withActors(storage, { advance }), effects: { work } })
  await supervisor.spawn('err-1')

  const responses = [1, 2, 3].map(() => supervisor.send('err-1', { type: 'note', at }))
  const reported = await Promise.all(
    responses.map((response) => response.catch(({ code, message }) => [code, message])),
  )

  const dropped = ['commit_failed', 'an earlier transition could not be saved']
  assert.deepEqual(reported, [['commit_failed', 'no space left'], dropped, dropped])
  assert.equal((await supervisor.send('err-1', { type: 'note', at })).record.notes, 1)
  assert.deepEqual([offered, started], [[2, 2], 2])
})

test('an end on disk counts although its commit was refused', async (t) => {
  const storage = await temporaryStorage(t)
  const advance: typeof storage.actors.advance = async (transition) => {
    await storage.actors.advance(transition)
    throw full
  }
  const supervisor = superviseSamples(t, {
    storage: withActors(storage, { advance }),
    effects: { work: heldEffect().effect },
  })
  await supervisor.spawn('err-1')
  await assert.rejects(supervisor.send('err-1', { type: 'finish', at }), { code: 'commit_failed' })

  const receipt = await supervisor.send('err-1', { type: 'note', at })

  assert.deepEqual([receipt.applied, receipt.record.status], [false, 'done'])
  assert.equal(storage.actors.get('err-1')?.parked, null)
})

const receipt = (status: string) => ({ applied: true, record: { id: 'dep-1', status } })

test('only the first response to an event counts', async () => {
  const receipts = createReceipts()
  const event = { type: 'cancel' }
  const response = receipts.expect(event, null)
  receipts.settle(event, receipt('first'))
  receipts.fail(event, new Error('too late'))
  receipts.settle(event, receipt('second'))
  assert.deepEqual(await response, receipt('first'))
})

test('at the end every waiter is answered once', async () => {
  const receipts = createReceipts()
  const [answered, open] = [{ type: 'note' }, { type: 'note' }]
  const responses = [receipts.expect(answered, null), receipts.expect(open, null)]
  receipts.settle(answered, receipt('live'))
  const end = new Error('the daemon is stopping')
  receipts.failAll(end)
  receipts.failAll(new Error('again'))
  assert.deepEqual(await Promise.allSettled(responses), [
    { status: 'fulfilled', value: receipt('live') },
    { status: 'rejected', reason: end },
  ])
})

const minuteMs = 60_000

/** A policy with a clock that the test controls. */
function policyAt(startMs: number) {
  const clock = { ms: startMs }
  return { clock, restarts: createRestartPolicy(() => clock.ms) }
}

test('the backoff doubles with each restart, up to half a minute', () => {
  const { restarts } = policyAt(0)
  const pauses = [1, 2, 3, 4, 5, 8, 9, 30].map(restarts.delayMs)
  assert.deepEqual(pauses, [200, 400, 800, 1600, 3200, 25_600, 30_000, 30_000])
})

test('five restarts are allowed, and the sixth is not', () => {
  const { restarts } = policyAt(0)
  assert.deepEqual([1, 5, 6, 7].map(restarts.isTooMany), [false, false, true, true])
})

test('consecutive restarts count up from the number on record', () => {
  const { clock, restarts } = policyAt(0)
  const counts = [0, 1, 2].map((recorded) => {
    clock.ms += 10 * minuteMs
    return restarts.next('dep-1', recorded)
  })
  assert.deepEqual(counts, [1, 2, 3])
})

test('restarts that could not be recorded are still counted', () => {
  const { restarts } = policyAt(0)
  assert.deepEqual(
    [restarts.next('store of dep-1'), restarts.next('store of dep-1'), restarts.next('other')],
    [1, 2, 1],
  )
})

test('after more than ten quiet minutes the count starts over, for that actor only', () => {
  const { clock, restarts } = policyAt(0)
  restarts.next('dep-1', 3)
  clock.ms += 5 * minuteMs
  restarts.next('dep-2', 3)
  clock.ms += 5 * minuteMs + 1
  assert.deepEqual([restarts.next('dep-1', 4), restarts.next('dep-2', 4)], [1, 5])
})

test('a failure right after the daemon starts counts: it may have caused the start', () => {
  const { clock, restarts } = policyAt(1_000_000)
  clock.ms += minuteMs
  assert.equal(restarts.next('dep-1', 4), 5)
})

test('an actor that was quiet for ten minutes since the daemon started starts over', () => {
  const { clock, restarts } = policyAt(1_000_000)
  clock.ms += 10 * minuteMs + 1
  assert.equal(restarts.next('dep-1', 5), 1)
})

/** Fails with a refused commit that many times, then succeeds. */
function refusedEffect(times: number) {
  const run = { attempts: 0 }
  const work: SampleEffect = async () => {
    if (++run.attempts <= times) throw full
    return { at: instant }
  }
  return { run, work }
}

test('an effect that failed because of the store is repeated until it succeeds', async (t) => {
  const storage = await temporaryStorage(t)
  const { run, work } = refusedEffect(2)
  const supervisor = superviseSamples(t, { storage, effects: { work } })

  await supervisor.spawn('err-1')

  await eventually('its end', () => storage.actors.get('err-1')?.final)
  assert.equal(storage.actors.record('err-1')?.status, 'done')
  assert.equal(run.attempts, 3)
})

test('an effect that waits for the store is ended by a cancel', async (t) => {
  const storage = await temporaryStorage(t)
  const { run, work } = refusedEffect(Number.POSITIVE_INFINITY)
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  await supervisor.spawn('err-1')
  await eventually('the first attempt', () => run.attempts > 0)

  await supervisor.send('err-1', { type: 'cancel', at: instant })

  await eventually('its end', () => storage.actors.get('err-1')?.final)
  assert.equal(storage.actors.record('err-1')?.status, 'canceled')
})
