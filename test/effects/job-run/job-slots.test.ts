// Slots of job runs: never more than the limit, in the order of the requests.
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
  const request = (id: string, signal = neverAborted) =>
    slots.acquire(id, signal, ignoreWait).then(() => void begun.push(id))
  return { begun, request }
}

test('as many runs as slots are active; the next ones learn how many run, and follow in order', async () => {
  const slots = createJobSlots(2)
  const reported: number[] = []
  const begun: string[] = []
  const take = (id: string) =>
    slots.acquire(id, neverAborted, (count) => void reported.push(count)).then(() => void begun.push(id))
  await Promise.all([take('a'), take('b')])
  const others = [take('c'), take('d')]
  await turn()
  assert.deepEqual(
    [reported, begun],
    [
      [2, 2],
      ['a', 'b'],
    ],
  )

  for (const id of ['b', 'a']) slots.release(id)

  await Promise.all(others)
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
})

test('a run that holds a slot gets the same one again, and releases it once', async () => {
  const slots = createJobSlots(1)
  for (let time = 1; time <= 2; time++) await slots.acquire('a', neverAborted, noWait)
  slots.reserve('a')
  for (let time = 1; time <= 2; time++) slots.release('a')
  await slots.acquire('b', neverAborted, noWait)
  const { begun, request } = recordTurns(slots)
  void request('c')
  await turn()
  assert.deepEqual(begun, [])
})

test('resumed runs get slots even beyond the limit, and new ones wait', async () => {
  const slots = createJobSlots(1)
  for (const id of ['a', 'b']) slots.reserve(id)
  const { begun, request } = recordTurns(slots)
  const waiting = request('c')
  slots.release('a')
  await turn()
  assert.deepEqual(begun, [])
  slots.release('b')
  await waiting
})

test('an aborted waiter leaves, and the next one gets the slot', async () => {
  const slots = createJobSlots(1)
  const { begun, request } = recordTurns(slots)
  await request('a')
  const controller = new AbortController()
  const left = request('b', controller.signal)
  const next = request('c')
  const reason = new Error('canceled')
  controller.abort(reason)
  await assert.rejects(left, reason)
  await assert.rejects(request('d', AbortSignal.abort(reason)), reason)
  slots.release('a')
  await next
  assert.deepEqual(begun, ['a', 'c'])
})

const step = fc.record({
  do: fc.constantFrom('take' as const, 'hold' as const, 'release' as const, 'abort' as const),
  which: fc.nat(30),
})

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
        const id = `job-${number}`
        if (what === 'hold') slots.reserve(id)
        if (what === 'hold') running.add(id)
        else {
          const taken = slots.acquire(id, signals[number]!.signal, ignoreWait)
          taken.then(() => running.add(id)).catch(ignoreWait)
        }
      }
      await turn()
      if (what !== 'hold') assert.ok(running.size <= Math.max(count, before))
    }
    for (const controller of signals) controller.abort()
    await turn()
    for (const id of running) slots.release(id)
    for (let free = 0; free < count; free++) await slots.acquire(`free-${free}`, neverAborted, noWait)
  })
  await fc.assert(property, { numRuns: 200 })
})
