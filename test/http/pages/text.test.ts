// How pages name times and browsers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserOf } from '../../../src/http/pages/account.ts'
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

test('a browser is shown by its common name, an unknown one by its user agent', () => {
  const mozilla = 'Mozilla/5.0'
  const names: Record<string, string> = {
    [`${mozilla} (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0`]: 'Firefox on Linux',
    [`${mozilla} (Windows NT 10.0) Chrome/130.0 Safari/537.36 Edg/130.0`]: 'Edge on Windows',
    [`${mozilla} (Linux; Android 14) Chrome/130.0 Mobile Safari/537.36`]: 'Chrome on Android',
    'curl/8.1': 'curl/8.1',
  }
  for (const [userAgent, name] of Object.entries(names)) assert.equal(browserOf(userAgent), name)
})
