// The text of a log line: its colors, its control characters, its width and how it is cut.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastPart, plainText, toSpans } from '../../src/dashboard/log/ansi.ts'
import { createMatcher } from '../../src/dashboard/log/find.ts'
import { toRows } from '../../src/dashboard/log/pieces.ts'
import { cellsOf, cutsOf, rowsOf, shownRows } from '../../src/dashboard/log/rows.ts'

const esc = '\u001b'
const stylesOf = (text: string) => toSpans(text).map(({ text: shown, style }) => [shown, style])
const wide = { columns: Number.POSITIVE_INFINITY, limit: 1, matcher: null }

test('colors become styles: sixteen of them, and the nearest for all others', () => {
  const codes = ['31', '1;92', '0', '38;5;208', '38;2;10;20;250', '90', '37']
  const text = codes.map((code, index) => `${esc}[${code}m${'bcdefgh'[index]}`).join('')
  assert.deepEqual(stylesOf(text), [
    ['b', 'red'],
    ['c', 'bold green'],
    ['d', ''],
    ['e', 'yellow'],
    ['f', 'blue'],
    ['g', 'gray'],
    ['h', ''],
  ])
})

test('text on a color can be read, and nothing can be hidden', () => {
  assert.deepEqual(stylesOf(`${esc}[31;41ma${esc}[0;7mb${esc}[0;8mc${esc}[0;30;40md`), [
    ['a', 'on-red'],
    ['b', 'on-text'],
    ['cd', ''],
  ])
})

test('bold and faint end with the code that ends both', () => {
  assert.deepEqual(stylesOf(`${esc}[1m${esc}[1ma${esc}[22mb`), [
    ['a', 'bold'],
    ['b', ''],
  ])
})

test('every other control character is shown, not obeyed', () => {
  assert.equal(
    plainText(`a${esc}[2Ab\u0007\u0000${esc}]0;title\u0007\u009b1m`),
    'a␛[2Ab␇␀␛]0;title␇\\u009b1m',
  )
  assert.equal(plainText('abc\u202etxt.exe\u2066'), 'abc\\u202etxt.exe\\u2066')
  assert.equal(plainText(`${esc}[01m${esc}[Kmain.c:${esc}[m${esc}[K`), 'main.c:')
})

test('a tab reaches to the next eighth column', () => {
  assert.equal(plainText('a\tbc\t12345678\tx'), 'a       bc      12345678        x')
})

test('of a line that was written again, the last part is shown', () => {
  assert.equal(lastPart('10%\r20%\r100%'), '100%')
  assert.equal(lastPart('100%\r'), '100%')
  assert.equal(lastPart(`1/2${esc}[2K${esc}[1G2/2`), '2/2')
  assert.equal(lastPart('\r'), '')
})

test('a character takes no, one or two columns', () => {
  assert.deepEqual(['abc', 'é', 'e\u0301', '日本', '🚀', '┌─┐', '👨‍👩‍👧'].map(cellsOf), [3, 1, 1, 4, 2, 3, 6])
})

test('a line is cut into rows of the computed number', () => {
  assert.deepEqual(cutsOf('abcdefgh', 3), [0, 3, 6, 8])
  assert.deepEqual(cutsOf('abcdefgh', 3, 2), [0, 3, 6])
  assert.deepEqual(cutsOf('日本語e\u0301x', 4), [0, 2, 6])
  assert.deepEqual(
    [0, 1, 80, 81].map((cells) => rowsOf(cells, 80)),
    [1, 1, 1, 2],
  )
  assert.deepEqual([shownRows(80 * 20, 80, false), shownRows(80 * 21, 80, false)], [20, 21])
  assert.equal(shownRows(80 * 300, 80, true), 300)
})

test('styles, addresses and matches of a line overlap', () => {
  const matcher = createMatcher('EXAMPLE')
  const [row] = toRows(`see ${esc}[32mhttps://example${esc}[0m.com/a.`, { ...wide, matcher })
  const href = 'https://example.com/a'
  assert.deepEqual(row, [
    { text: 'see ', style: '', isMatch: false },
    { text: 'https://', style: 'green', href, isMatch: false },
    { text: 'example', style: 'green', href, isMatch: true },
    { text: '.com/a', style: '', href, isMatch: false },
    { text: '.', style: '', isMatch: false },
  ])
})

test('only http and https are addresses, without the end of a sentence or the quotes around them', () => {
  const hrefsIn = (text: string) => toRows(text, wide)[0]!.flatMap(({ href }) => (href ? [href] : []))
  assert.deepEqual(hrefsIn('(see http://a.test/x?y=1#z), "https://b.test".'), [
    'http://a.test/x?y=1#z',
    'https://b.test',
  ])
  assert.deepEqual(hrefsIn('javascript://a.test/%0aalert(1) data:text/html,x ftp://c.test'), [])
})

test('the rows of a line contain all of its text', () => {
  const text = `${esc}[31m${'日本 語'.repeat(40)}${esc}[0m http://a.test/${'x'.repeat(90)} end`
  for (const columns of [16, 33, 120]) {
    const rows = toRows(text, { columns, limit: Number.POSITIVE_INFINITY, matcher: createMatcher('x') })
    assert.equal(
      rows
        .flat()
        .map((piece) => piece.text)
        .join(''),
      plainText(text),
    )
    assert.ok(Math.abs(rows.length - rowsOf(cellsOf(plainText(text)), columns)) <= 1)
  }
})

test('a hostile line costs time in proportion to its length', () => {
  const patterns = [
    `${esc}[1m`,
    `${esc}[1;1;1;1;3;4mx`,
    '\r',
    '\t',
    `${esc}[`,
    'http://',
    '日',
    '\u202e',
    'x',
    ';',
  ]
  for (const pattern of patterns) {
    // The same text in forty parts and whole, the least of ten: the machine may be busy.
    const msFor = (parts: number) => {
      const text = pattern.repeat(200_000 / parts / pattern.length)
      const times = Array.from({ length: 10 }, () => {
        const startedAt = performance.now()
        for (let part = 0; part < parts; part++)
          toRows(lastPart(text), { columns: 80, limit: 20, matcher: createMatcher(pattern[0]!) })
        return performance.now() - startedAt
      })
      return Math.min(...times)
    }
    // Were the time quadratic, it would be 40. Large lists are slower than small ones on any machine.
    const [inParts, whole] = [msFor(40), msFor(1)]
    assert.ok(
      whole < 20 * inParts,
      `${JSON.stringify(pattern)}: ${whole} ms whole, ${inParts} ms in 40 parts`,
    )
  }
})

test('a hostile line has a limited number of styles', () => {
  const [row] = toRows(`${esc}[31ma${esc}[32mb`.repeat(5_000), wide)
  assert.ok(row!.length <= 200)
  assert.equal(row!.map(({ text }) => text).join(''), 'ab'.repeat(5_000))
})
