// What an effect reads may end the daemon. The effects that such an end interrupted take turns at the next
// start; the one that ends the daemon again is parked.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalogue, type Kind } from '../../machines/index.ts'
import type { OwnEnd } from '../../src/own-end.ts'
import type { Storage } from '../../storage/index.ts'
import { eventually, instant, superviseSamples, temporaryStorage } from '../support/supervisor/supervision.ts'

/** A process of the daemon whose effects run until they are aborted or released. */
function run(t: TestContext, storage: Storage) {
  const running = new Map<string, () => void>()
  const limits = new Map<string, unknown>()
  const work = (input: { id: string; deadlineAt?: number }, signal: AbortSignal) =>
    new Promise<{ at: string }>((resolve, reject) => {
      running.set(input.id, () => resolve({ at: instant }))
      limits.set(input.id, input.deadlineAt)
      signal.addEventListener('abort', () => {
        running.delete(input.id)
        reject(signal.reason)
      })
    })
  const supervisor = superviseSamples(t, { storage, effects: { work }, readers: ['work'] })
  return {
    ...supervisor,
    limits,
    running: () => [...running.keys()],
    untilRunning: (count: number) => eventually(`${count} effects`, () => running.size === count),
    release(id: string) {
      running.get(id)!()
      running.delete(id)
    },
    /** Like a kill: the effects do not get to record their end. */
    end: () => supervisor.stop(0),
  }
}

let count = 0
const ownEnd = (): OwnEnd => ({ id: `end-${++count}`, reason: 'event_loop_blocked' })

const parkedIn = (storage: Storage) => [...storage.actors.parked()].map(({ id, code }) => `${id} ${code}`)
const statusOf = (storage: Storage, id: string) => storage.actors.record(id)?.status

/** Three effects run when the daemon ends itself. */
async function startAfterEnd(t: TestContext) {
  const storage = await temporaryStorage(t)
  const first = run(t, storage)
  for (const id of ['err-1', 'err-2', 'err-3']) await first.spawn(id)
  await first.untilRunning(3)
  await first.end()
  const second = run(t, storage)
  await second.restore(ownEnd())
  return { storage, second }
}

test('every named reader is a slot of its kind', () => {
  for (const { machine, readers = [] } of Object.values<Kind>(catalogue)) {
    const slots = Object.keys(machine.implementations.actors)
    assert.deepEqual(
      readers.filter((name) => !slots.includes(name)),
      [],
      machine.id,
    )
  }
})

test('effects that supervise what runs are never suspects', () => {
  const readersOf = (kind: keyof typeof catalogue) => (catalogue[kind] as Kind).readers ?? []
  for (const kind of ['edge', 'datastore', 'cron-schedule', 'certificate'] as const) {
    assert.deepEqual(readersOf(kind), [])
  }
  assert.ok(!readersOf('deploy').includes('keepInstances'))
})

test('suspects run one at a time; one that ends the daemon again is parked, others continue', async (t) => {
  const { storage, second } = await startAfterEnd(t)
  await second.untilRunning(1)
  assert.equal(second.suspects().length, 3)
  const [harmless] = second.running()
  second.release(harmless!)
  await eventually('its end', () => statusOf(storage, harmless!) === 'done')
  await second.untilRunning(1)
  const [culprit] = second.running()
  await second.spawn('err-4')
  await second.untilRunning(2)
  await second.end()

  const third = run(t, storage)
  assert.deepEqual(await third.restore(ownEnd()), { restored: 2, parked: 1 })

  assert.deepEqual(parkedIn(storage), [`${culprit} ended_server`])
  const { reason } = storage.actors.parkedOf(culprit!)!
  assert.equal(reason, 'berthd had to end itself twice during work: the event loop was blocked')
  for (let left = 2; left > 0; left--) {
    await third.untilRunning(1)
    third.release(third.running()[0]!)
  }
  await eventually('the end of all suspicion', () => third.suspects().length === 0)
  const others = ['err-1', 'err-2', 'err-3', 'err-4'].filter((id) => id !== culprit)
  await eventually('the others', () => others.every((id) => statusOf(storage, id) === 'done'))
})

test('an actor that was parked for it can be retried', async (t) => {
  const { storage, second } = await startAfterEnd(t)
  await second.untilRunning(1)
  const [culprit] = second.running()
  await second.end()
  const third = run(t, storage)
  await third.restore(ownEnd())
  await third.retry(culprit!)
  await eventually('its effect', () => third.running().includes(culprit!))
  third.release(culprit!)
  await eventually('its end', () => statusOf(storage, culprit!) === 'done')
})

test('other ends of the daemon make no suspects', async (t) => {
  const storage = await temporaryStorage(t)
  for (let starts = 0; starts < 3; starts++) {
    const daemon = run(t, storage)
    await daemon.restore(null)
    if (starts === 0) for (const id of ['err-1', 'err-2']) await daemon.spawn(id)
    await daemon.untilRunning(2)
    assert.deepEqual(daemon.suspects(), [])
    await daemon.end()
  }
  assert.deepEqual(parkedIn(storage), [])
})

test('an end counts once, and suspects stay suspects over an ordinary restart', async (t) => {
  const { storage, second } = await startAfterEnd(t)
  await second.untilRunning(1)
  await second.end()
  const same = { id: `end-${count}`, reason: 'event_loop_blocked' } as const
  const third = run(t, storage)
  assert.deepEqual(await third.restore(same), { restored: 3, parked: 0 })
  await third.end()
  const fourth = run(t, storage)
  await fourth.restore(null)
  await fourth.untilRunning(1)
  assert.equal(fourth.suspects().length, 3)
})

test('an effect that has ended is no suspect', async (t) => {
  const storage = await temporaryStorage(t)
  const first = run(t, storage)
  await first.spawn('err-1')
  await first.spawn('err-2')
  await first.untilRunning(2)
  first.release('err-1')
  await eventually('its end', () => statusOf(storage, 'err-1') === 'done')
  await first.end()
  const second = run(t, storage)
  await second.restore(ownEnd())
  assert.deepEqual(second.suspects(), ['err-2'])
})

test('a suspect can be canceled while it waits, and waiting does not use up its time', async (t) => {
  const storage = await temporaryStorage(t)
  const first = run(t, storage)
  const deadlineAt = Date.now() + 60_000
  for (const id of ['err-1', 'err-2', 'err-3']) await first.spawn(id, { deadlineAt })
  await first.untilRunning(3)
  await first.end()
  const second = run(t, storage)
  await second.restore(ownEnd())
  await second.untilRunning(1)
  const [running] = second.running()
  const [canceled, last] = ['err-1', 'err-2', 'err-3'].filter((id) => id !== running)
  await second.send(canceled!, { type: 'cancel', at: instant })
  await eventually('its end', () => statusOf(storage, canceled!) === 'canceled')
  await new Promise((resolve) => setTimeout(resolve, 50))
  second.release(running!)
  await eventually('the last', () => second.running().includes(last!))
  assert.ok((second.limits.get(last!) as number) >= deadlineAt + 50)
  second.release(last!)
  await eventually('the end of all suspicion', () => second.suspects().length === 0)
})

test('an effect that is aborted while it goes on record never starts', async (t) => {
  const storage = await temporaryStorage(t)
  const daemon = run(t, storage)
  await daemon.spawn('err-1')
  await daemon.send('err-1', { type: 'cancel', at: instant })
  await eventually('its end', () => statusOf(storage, 'err-1') === 'canceled')
  assert.deepEqual([...daemon.limits.keys()], [])
})
