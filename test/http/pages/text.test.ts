// How pages name times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relativeTime } from '../../../src/http/pages/text.ts'

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

test('a time is shown in relative form, with the exact time behind it', () => {
  const from = (ms: number) =>
    relativeTime(new Date(Date.now() + ms).toISOString()).text.replace(/<[^>]*>/g, '')

  assert.equal(from(-5 * second), 'just now')
  assert.equal(from(5 * second), 'in less than a minute')
  assert.equal(from(-3 * minute), '3 minutes ago')
  assert.equal(from(30 * day), 'in 30 days')
  assert.equal(from(-400 * day), '1 year ago')
  assert.match(relativeTime('2026-03-01T09:05:00.000Z').text, / title="March 1, 2026 at 9:05\sAM UTC">/)
})
