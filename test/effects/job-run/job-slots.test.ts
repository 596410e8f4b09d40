// Slots of job runs: never more than the limit, and a service with many runs does not block the others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createJobSlots, type JobSlots } from '../../../src/effects/job-run/job-slots.ts'

const neverAborted = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))
const ignoreWait = () => undefined
const noWait = () => assert.fail('there was no place')

/** Requests slots, and records the order in which they are assigned. */
function recordTurns(slots: JobSlots) {
  const begun: string[] = []
  const request = (id: string, serviceId: string, signal = neverAborted) =>
    slots.acquire({ id, serviceId, isOwn: false }, signal, ignoreWait).then(() => void begun.push(id))
  return { begun, request }
}

test('as many runs as slots are active, and the next one learns how many run', async () => {
  const slots = createJobSlots(2)
  const reported: (number | null)[] = []
  const take = (id: string) =>
    slots.acquire({ id, serviceId: id, isOwn: false }, neverAborted, (count) => void reported.push(count))
  await Promise.all([take('a'), take('b')])
  let isStarted = false
  const third = take('c').then(() => {
    isStarted = true
  })
  await turn()
  assert.deepEqual([reported, isStarted], [[2], false])

  slots.release('b')

  await third
})

test('the service with the fewest runs comes first, then the longest waiter', async () => {
  const slots = createJobSlots(3)
  const { begun, request } = recordTurns(slots)
  for (const id of ['a1', 'a2', 'a3']) await request(id, 'a')
  const waiting = [
    request('a4', 'a'),
    request('a5', 'a'),
    request('b1', 'b'),
    request('b2', 'b'),
    request('c1', 'c'),
  ]
  for (const id of ['a1', 'a2', 'a3', 'b1', 'c1']) {
    slots.release(id)
    await turn()
  }
  await Promise.all(waiting)
  // After a1, b has no run; after a2, c has none; then a has none.
  assert.deepEqual(begun.slice(3), ['b1', 'c1', 'a4', 'b2', 'a5'])
})

test("a service's own command has one slot at a time; other commands do not wait for it", async () => {
  const slots = createJobSlots(4)
  const started: string[] = []
  const reported: (number | null)[] = []
  const request = (id: string, serviceId: string, isOwn: boolean) =>
    slots
      .acquire({ id, serviceId, isOwn }, neverAborted, (running) => void reported.push(running))
      .then(() => void started.push(id))
  await request('own-2', 'a', true)
  const older = request('own-1', 'a', true)
  await request('other', 'a', false)
  await request('own-3', 'b', true)
  await turn()
  assert.deepEqual([started, reported], [['own-2', 'other', 'own-3'], [null]])

  slots.release('own-2')

  await older
  assert.deepEqual(started.at(-1), 'own-1')
})

test('a run that holds a slot gets the same one again, and releases it once', async () => {
  const slots = createJobSlots(1)
  const run = { id: 'a', serviceId: 'a', isOwn: false }
  await slots.acquire(run, neverAborted, noWait)
  await slots.acquire(run, neverAborted, noWait)
  slots.reserve(run)
  slots.release('a')
  slots.release('a')
  await slots.acquire({ id: 'b', serviceId: 'b', isOwn: false }, neverAborted, noWait)
  const { begun, request } = recordTurns(slots)
  void request('c', 'c')
  await turn()
  assert.deepEqual(begun, [])
})

test('resumed runs get slots even beyond the limit, and new ones wait', async () => {
  const slots = createJobSlots(1)
  for (const id of ['a', 'b']) slots.reserve({ id, serviceId: id, isOwn: false })
  const { begun, request } = recordTurns(slots)
  const waiting = request('c', 'c')
  slots.release('a')
  await turn()
  assert.deepEqual(begun, [])
  slots.release('b')
  await waiting
})

test('an aborted waiter leaves, and the next one gets the slot', async () => {
  const slots = createJobSlots(1)
  const { begun, request } = recordTurns(slots)
  await request('a', 'a')
  const controller = new AbortController()
  const left = request('b', 'b', controller.signal)
  const next = request('c', 'c')
  const reason = new Error('canceled')
  controller.abort(reason)
  await assert.rejects(left, reason)
  slots.release('a')
  await next
  assert.deepEqual(begun, ['a', 'c'])
})

test('a caller that is already aborted does not wait and takes nothing', async () => {
  const slots = createJobSlots(1)
  const aborted = AbortSignal.abort(new Error('canceled'))
  await assert.rejects(slots.acquire({ id: 'a', serviceId: 'a', isOwn: false }, aborted, noWait), /canceled/)
  await slots.acquire({ id: 'b', serviceId: 'b', isOwn: false }, neverAborted, noWait)
})

test('an abort after the slot was granted does not release it', async () => {
  const slots = createJobSlots(1)
  const { begun, request } = recordTurns(slots)
  const controller = new AbortController()
  await request('a', 'a', controller.signal)
  controller.abort()
  const waiting = request('b', 'b')
  await turn()
  assert.deepEqual(begun, ['a'])
  slots.release('a')
  await waiting
})

const step = fc.oneof(
  fc.record({ do: fc.constant('take' as const), which: fc.nat(3) }),
  fc.record({ do: fc.constant('hold' as const), which: fc.nat(3) }),
  fc.record({ do: fc.constant('release' as const), which: fc.nat(30) }),
  fc.record({ do: fc.constant('abort' as const), which: fc.nat(30) }),
)

test('under random load slots are never exceeded, and all are returned', async () => {
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step), async (count, steps) => {
    const slots = createJobSlots(count)
    const running = new Set<string>()
    const signals: AbortController[] = []
    for (const { do: what, which } of steps) {
      const before = running.size
      if (what === 'release') {
        const id = [...running][which % (running.size || 1)]
        if (id) running.delete(id)
        if (id) slots.release(id)
      } else if (what === 'abort') {
        signals[which]?.abort()
      } else {
        const number = signals.push(new AbortController()) - 1
        const run = { id: `job-${number}`, serviceId: `svc-${which}`, isOwn: false }
        if (what === 'hold') slots.reserve(run)
        if (what === 'hold') running.add(run.id)
        else {
          const taken = slots.acquire(run, signals[number]!.signal, ignoreWait)
          taken.then(() => running.add(run.id)).catch(ignoreWait)
        }
      }
      await turn()
      if (what !== 'hold') assert.ok(running.size <= Math.max(count, before))
    }
    for (const controller of signals) controller.abort()
    await turn()
    for (const id of running) slots.release(id)
    for (let free = 0; free < count; free++) {
      await slots.acquire({ id: `free-${free}`, serviceId: 'svc-9', isOwn: false }, neverAborted, noWait)
    }
  })
  await fc.assert(property, { numRuns: 200 })
})
