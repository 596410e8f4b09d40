import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOutputLines } from '../../../src/docker/logs/output-lines.ts'

test('a line is reported when it ends, in whatever pieces it arrives', () => {
  const output = createOutputLines()

  assert.deepEqual(output.push('one\r\ntw'), ['one'])
  assert.deepEqual(output.push('o'), [])
  assert.deepEqual(output.push('\n\nthree'), ['two', ''])
  assert.deepEqual(output.remainder(), ['three'])
  assert.deepEqual(output.remainder(), [])
})

test('an endless line is reported in parts, with nothing missing', () => {
  const output = createOutputLines()
  const pieces = Array.from({ length: 1000 }, (_, at) => `${at},`.repeat(20))

  const lines = [...pieces.flatMap((piece) => output.push(piece)), ...output.remainder()]

  assert.equal(lines.join(''), pieces.join(''))
  assert.ok(Math.max(...lines.map(({ length }) => length)) <= 16 * 1024 + 100)
})

test('an overwritten line is reported once, in its last state, and earlier states are dropped', () => {
  const output = createOutputLines()
  const blank = '\u001b[K'

  assert.deepEqual(output.push('(Reading ... \r(Reading ... 5%\r(Reading ... 6599 files.)\n'), [
    '(Reading ... 6599 files.)',
  ])
  assert.deepEqual(output.push(`50%\r60%\r   \r${blank}\n\r\r\n`), ['60%', ''])
  assert.deepEqual(output.push('70%\r'), [])
  assert.deepEqual(output.push('  '), [])
  assert.deepEqual(output.remainder(), ['70%'])
})

test('long progress without a line break is reported once, at its end', () => {
  const output = createOutputLines()
  const pieces = Array.from({ length: 5000 }, (_, at) => `\r${at} of 5000 ${'='.repeat(40)}`)

  const lines = pieces.flatMap((piece) => output.push(piece))

  assert.deepEqual(lines, [])
  assert.deepEqual(output.push(' done\n'), [`4999 of 5000 ${'='.repeat(40)} done`])
})
