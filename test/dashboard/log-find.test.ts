// Finding a text in the lines of a log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMatcher, Search } from '../../src/dashboard/log/find.ts'
import { type Line, toLine } from '../../src/dashboard/log/lines.ts'

const ts = '2026-01-01T00:00:00.000Z'
const lineOf = (number: number, line: string) => toLine(number, { ts, stream: 'stdout', line })

function searchIn(lines: Line[], query: string): Search {
  const search = new Search(createMatcher(query)!, () => true)
  while (search.advance(lines)) {}
  return search
}

test('all matches are counted, in both cases, also several in a line', () => {
  const texts = ['Error: no error', 'fine', '\u001b[31mer\u001b[0mror']
  const search = searchIn(
    texts.map((text, index) => lineOf(index + 5, text)),
    'error',
  )
  assert.deepEqual(search.hits, [
    { number: 5, upTo: 2 },
    { number: 7, upTo: 3 },
  ])
  assert.deepEqual(
    [0, 1, 2, 3].map((match) => search.hitOf(match)?.number),
    [5, 5, 7, undefined],
  )
})

test('a query is a text, not a pattern', () => {
  assert.equal(searchIn([lineOf(1, 'a.c abc a.c (x) [y] \\d')], 'a.c').count, 2)
  assert.equal(searchIn([lineOf(1, 'a.c abc a.c (x) [y] \\d')], '(x) [y] \\d').count, 1)
  assert.equal(createMatcher(''), null)
})

test('lines that come later are searched too, and only once', () => {
  const lines = Array.from({ length: 2_500 }, (_, index) => lineOf(index + 1, 'a needle'))
  const search = searchIn(lines, 'needle')
  lines.push(lineOf(2_501, 'needle'))
  assert.ok(search.hasNext(lines))
  while (search.advance(lines)) {}
  assert.equal(search.count, 2_501)
  assert.equal(search.hasNext(lines), false)
})

test('the first match is looked for from where the reader is', () => {
  const lines = Array.from({ length: 100 }, (_, index) =>
    lineOf(index + 1, index % 10 === 9 ? 'hit hit' : ''),
  )
  const search = searchIn(lines, 'hit')
  assert.deepEqual(
    [1, 10, 11, 91, 101].map((number) => search.firstFrom(number)),
    [0, 0, 2, 18, 0],
  )
})
