// Instants by the clocks of time zones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockTime, dayAndTime, haveSameClock } from '../../../src/cli/job/instants.ts'

const now = new Date('2026-11-22T12:00:00.000Z')

test('a time is shown in its zone, with the year if it is not the current one', () => {
  const at = '2026-12-31T23:30:00.000Z'
  assert.equal(dayAndTime(at, 'UTC', now), 'Thu 31 Dec 23:30')
  assert.equal(dayAndTime(at, 'Europe/Berlin', now), 'Fri 1 Jan 2027 00:30')
  assert.equal(clockTime('2026-07-01T00:00:00.000Z', 'Asia/Kathmandu'), '05:45')
  assert.equal(clockTime('2026-07-01T00:00:00.000Z', 'UTC'), '00:00')
})

test('an unknown zone is shown as UTC, and an invalid time unchanged', () => {
  assert.equal(dayAndTime('2026-11-23T03:00:00.000Z', 'Mars/Olympus', now), 'Mon 23 Nov 03:00')
  assert.deepEqual([clockTime('soon', 'UTC'), dayAndTime('soon', 'UTC')], ['soon', 'soon'])
})

test('zones are equal if their clocks agree at the relevant times', () => {
  const winter = '2026-12-01T03:00:00.000Z'
  const summer = '2026-07-01T03:00:00.000Z'
  assert.equal(haveSameClock('Europe/London', 'UTC', [winter]), true)
  assert.equal(haveSameClock('Europe/London', 'UTC', [winter, summer]), false)
})
