// Lines about instances: their text, and Docker's restart delay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatEvent,
  type InstanceEvent,
  removed,
  restartDelay,
  started,
} from '../../../src/effects/instances/reports.ts'

const exit: InstanceEvent = {
  type: 'exited',
  exit_code: 137,
  out_of_memory: true,
  restarts: true,
  restarts_in_ms: 2000,
}

test('a line names the instance, how it ended and what happens next', () => {
  const unknown = { restarts: true, restarts_in_ms: null }
  assert.deepEqual(
    [
      formatEvent(1, exit),
      formatEvent(0, { ...exit, out_of_memory: false, ...unknown }),
      formatEvent(0, { ...exit, exit_code: 1, out_of_memory: false, restarts: false }),
      formatEvent(0, { ...exit, type: 'stopped', exit_code: 143, out_of_memory: false, restarts: false }),
      formatEvent(2, started),
      formatEvent(2, removed),
    ],
    [
      'instance 2 exited with code 137 (out of memory); it restarts in 2s',
      'instance 1 exited with code 137 (SIGKILL); it restarts',
      'instance 1 exited with code 1',
      'instance 1 was stopped, and exited with code 143 (SIGTERM)',
      'instance 3 started',
      'instance 3 was removed from Docker',
    ],
  )
})

test('the restart delay doubles for short runs up to a minute, and then resets', () => {
  let delayMs: number | null = 0
  const delays = Array.from({ length: 12 }, () => (delayMs = restartDelay(delayMs, 50)))
  assert.deepEqual(delays, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000])
  assert.equal(restartDelay(60_000, 10_000), 100)
  assert.deepEqual(
    [restartDelay(null, 50), restartDelay(null, null), restartDelay(null, 20_000)],
    [null, null, 100],
  )
})
