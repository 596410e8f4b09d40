// What terminal logins keep in memory: which life of the daemon it is, and who polled last when.
import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createRate,
  createStartCode,
  createTerminalLogins,
  newCode,
} from '../../src/account/terminal-logins.ts'

test('each daemon run has its own identity and no tokens to collect', () => {
  const [one, other] = [createTerminalLogins(), createTerminalLogins()]

  notEqual(one.bootId, other.bootId)
  notEqual(one.startCode.current(), other.startCode.current())
  equal(one.uncollected.size, 0)
})

const minuteMs = 60_000

test('codes have groups of four characters that cannot be confused, and differ', () => {
  const codes = Array.from({ length: 2000 }, () => newCode(3))

  equal(new Set(codes).size, codes.length)
  for (const code of codes) match(code, /^[ACEFHJKMNPRTWXY34679]{4}(-[ACEFHJKMNPRTWXY34679]{4}){2}$/)
  equal(new Set(codes.join('').replaceAll('-', '')).size, 20)
})

test('a start code is replaced after ten minutes, and accepted for ten more', () => {
  const clock = { ms: 0 }
  const startCode = createStartCode(() => clock.ms)
  const first = startCode.current()

  clock.ms = 10 * minuteMs - 1
  equal(startCode.current(), first)
  clock.ms = 10 * minuteMs
  const second = startCode.current()
  notEqual(second, first)
  deepEqual([startCode.matches(first), startCode.matches(second)], [true, true])
  clock.ms = 20 * minuteMs
  deepEqual([startCode.matches(first), startCode.matches(second)], [false, true])
})

test('a start code that was not shown for a while is not accepted', () => {
  const clock = { ms: 0 }
  const startCode = createStartCode(() => clock.ms)
  const code = startCode.current()

  clock.ms = 25 * minuteMs

  deepEqual([startCode.matches(code), startCode.matches(''), startCode.matches('-')], [false, false, false])
})

test('a start code may be typed in lower case and without dashes', () => {
  const startCode = createStartCode(() => 0)
  const code = startCode.current()

  for (const typed of [code.toLowerCase(), code.replaceAll('-', ''), ` ${code} `]) {
    equal(startCode.matches(typed), true, typed)
  }
  for (const typed of [code.slice(1), `${code}A`, code.slice(0, 9)]) equal(startCode.matches(typed), false)
})

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
