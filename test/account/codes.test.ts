// Codes for people, and the start code that is replaced every ten minutes.
import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createStartCode, newCode } from '../../src/account/terminal-logins.ts'

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
