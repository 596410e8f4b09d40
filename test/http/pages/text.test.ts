// How pages name what they show: times and waits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
