// What terminal logins keep in memory: which life of the daemon it is, and who polled last when.
import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createRate, createStartCode, newCode } from '../../src/account/terminal-logins.ts'

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

test('only the keys used last are remembered', () => {
  const rate = createRate({ atOnce: 1, intervalMs: 100 }, () => 0)
  for (let count = 0; count < 20_000; count++) rate.take(`key-${count}`)

  deepEqual([rate.waitMs('key-19999'), rate.waitMs('key-15000'), rate.waitMs('key-0')], [100, 100, 0])
})
