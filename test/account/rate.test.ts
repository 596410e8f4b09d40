// A rate per key: how many at once, how many later, and that memory is bounded.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRate } from '../../src/account/terminal-logins.ts'

test('several are allowed at once, then one per interval', () => {
  const clock = { ms: 5000 }
  const rate = createRate({ atOnce: 3, intervalMs: 100 }, () => clock.ms)
  const waits = () => [rate.waitMs('a'), rate.waitMs('b')]

  for (let count = 0; count < 3; count++) {
    equal(rate.waitMs('a'), 0)
    rate.take('a')
  }

  deepEqual(waits(), [100, 0])
  clock.ms += 60
  deepEqual(waits(), [40, 0])
  clock.ms += 40
  deepEqual(waits(), [0, 0])
  rate.take('a')
  deepEqual(waits(), [100, 0])
  clock.ms += 300
  for (let count = 0; count < 3; count++) rate.take('a')
  deepEqual(waits(), [100, 0])
})

test('within any period no more are allowed than at once and one per interval of it', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 250 }), { maxLength: 300 })
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 10 }), (pauses, atOnce) => {
      const clock = { ms: 0 }
      const rate = createRate({ atOnce, intervalMs: 100 }, () => clock.ms)
      const taken: number[] = []
      for (const pauseMs of pauses) {
        clock.ms += pauseMs
        if (rate.waitMs('a') > 0) continue
        rate.take('a')
        taken.push(clock.ms)
      }
      for (const start of taken) {
        const within = taken.filter((at) => at >= start && at < start + 1000)
        if (within.length > atOnce + 10) return false
      }
      return true
    }),
  )
})

test('only the keys used last are remembered', () => {
  const rate = createRate({ atOnce: 1, intervalMs: 100 }, () => 0)
  for (let count = 0; count < 20_000; count++) rate.take(`key-${count}`)

  deepEqual([rate.waitMs('key-19999'), rate.waitMs('key-15000'), rate.waitMs('key-0')], [100, 100, 0])
})
