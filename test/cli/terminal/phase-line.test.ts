// The lines of a deploy: they fit into the terminal, whatever is written in them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import stringWidth from 'string-width'
import { clip, paragraph, phaseLine, windowLine } from '../../../src/cli/terminal/phase-line.ts'
import { count, duration, size } from '../../../src/quantities.ts'

const screen = (isLive: boolean, columns = 60) => ({
  isLive,
  tint: (_: unknown, text: string) => text,
  width: () => columns,
})

const building = { mark: '✔', name: 'building', durationMs: 8400 }

test('at a terminal the clock is aligned right, and text that does not fit is cut', () => {
  const short = phaseLine(screen(true), { ...building, detail: '14 steps' })
  const long = phaseLine(screen(true), { ...building, detail: '漢字'.repeat(40) })

  assert.equal(short, `${' ✔ building     14 steps'.padEnd(55)}8.4s`)
  assert.ok(long.endsWith('…      8.4s') || long.endsWith('…     8.4s'))
  assert.deepEqual([stringWidth(short), stringWidth(long)], [59, 59])
})

test('without a terminal nothing is cut or aligned', () => {
  const detail = 'x'.repeat(200)

  assert.equal(phaseLine(screen(false), { ...building, detail }), ` ✔ building     ${detail}  8.4s`)
  assert.equal(windowLine(screen(false), detail), `   │ ${detail}`)
})

test('log output cannot move the cursor', () => {
  const line = windowLine(screen(true), '\x1b[31mred\x1b[0m\x1b[5A\rback\x07\tend')

  assert.equal(line, '   │ redback  end')
})

test('text is cut by its width on the screen, between letters', () => {
  assert.deepEqual([clip('abc', 3), clip('abcd', 3), clip('漢字漢', 5)], ['abc', 'ab…', '漢字…'])
})

test('sentences wrap between words, with the indent on every line', () => {
  assert.deepEqual(paragraph('one two three four', '  ', 11), ['  one two', '  three', '  four'])
  assert.deepEqual(paragraph('unbreakable x', ' ', 5), [' unbreakable', ' x'])
})

test('amounts are short and readable at every size', () => {
  const durations = [0, 8449, 59_949, 59_951, 184_000, 3_599_999, 3_720_000].map(duration)
  const sizes = [0, 1023, 1024, 1500, 1_048_524, 1_048_525, 1_887_437, 536_870_912, 4_617_089_843].map(size)

  assert.deepEqual(durations, ['0.0s', '8.4s', '59.9s', '1m 00s', '3m 04s', '1h 00m', '1h 02m'])
  const exact = [300, 1000, 42_000, 90_000, 600_000, 3_600_000, 5_400_000, 86_400_000].map(duration)
  assert.deepEqual(exact, ['0.3s', '1s', '42s', '1m 30s', '10m', '1h', '1h 30m', '24h'])
  assert.deepEqual(sizes, [
    '0 B',
    '1023 B',
    '1 KiB',
    '1.5 KiB',
    '1023.9 KiB',
    '1 MiB',
    '1.8 MiB',
    '512 MiB',
    '4.3 GiB',
  ])
  assert.deepEqual([count(1, 'file'), count(12_045, 'file')], ['1 file', '12,045 files'])
})
