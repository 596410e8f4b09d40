// How pages name what they show: times, waits, browsers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserOf } from '../../../src/http/pages/account.ts'
import { markedUp, relativeTime } from '../../../src/http/pages/text.ts'

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

test('commands, names and addresses in a text are marked', () => {
  const marked = (text: string) => markedUp(text).text
  assert.equal(marked('it is in setup_code.'), 'it is in <code>setup_code</code>.')
  assert.equal(
    marked('on the server, berthd reset-password sets a password'),
    'on the server, <code>berthd reset-password</code> sets a password',
  )
  assert.equal(marked('/docs lists all pages'), '<a href="/docs">/docs</a> lists all pages')
  assert.equal(marked('the page /account.'), 'the page <a href="/account">/account</a>.')
  for (const text of ['nothing at /docs/x', 'a/account', '/my_path-x', 'berthd is away', '/accounts']) {
    assert.equal(marked(text), text)
  }
  assert.equal(marked('<b>a_b</b>'), '&#60;b&#62;<code>a_b</code>&#60;/b&#62;')
})

test('a browser is shown by its common name, an unknown one by its user agent', () => {
  const mozilla = 'Mozilla/5.0'
  const known: Record<string, string> = {
    [`${mozilla} (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0`]: 'Firefox on Linux',
    [`${mozilla} (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0`]:
      'Edge on Windows',
    [`${mozilla} (Linux; Android 14) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36`]:
      'Chrome on Android',
    [`${mozilla} (iPhone; CPU iPhone OS 17_0 like Mac OS X) Version/17.0 Safari/604.1`]: 'Safari on iOS',
    [`${mozilla} (Macintosh; Intel Mac OS X 10_15) Version/17.0 Safari/605.1.15`]: 'Safari on macOS',
    'curl/8.1': 'curl/8.1',
    [`x${'y'.repeat(300)}`]: `x${'y'.repeat(59)}…`,
  }

  for (const [userAgent, name] of Object.entries(known)) assert.equal(browserOf(userAgent), name)
  assert.equal(browserOf(null), 'Unknown browser')
})
