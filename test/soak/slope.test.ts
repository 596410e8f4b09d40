import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { exceeds, slopeOf } from './slope.ts'

/** A value each minute of an hour, with noise that is the same each time. */
const hour = (perHour: number, noise: number) =>
  Array.from({ length: 60 }, (_, minute) => ({
    atMs: minute * 60_000,
    value: 50 + (perHour * minute) / 60 + noise * Math.sin(minute * 12.9898),
  }))

test('a line has its slope, without an error', () => {
  const { perHour, standardError } = slopeOf(hour(3, 0))!

  ok(Math.abs(perHour - 3) < 1e-9)
  ok(standardError < 1e-9)
})

test('noise is no growth, and hides none', () => {
  equal(exceeds(slopeOf(hour(0, 5))!, 1), false)
  equal(exceeds(slopeOf(hour(20, 5))!, 1), true)
})

test('a few points tell nothing', () => {
  equal(slopeOf(hour(20, 0).slice(0, 10)), null)
})
