// The delays and limits of the restart policy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRestartPolicy } from '../../src/supervisor/restarts.ts'

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
