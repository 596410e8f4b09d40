import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOutputLines } from '../../src/docker/output-lines.ts'

test('a line is told when its end is there, however it came', () => {
  const output = createOutputLines()

  assert.deepEqual(output.push('one\r\ntw'), ['one'])
  assert.deepEqual(output.push('o'), [])
  assert.deepEqual(output.push('\n\nthree'), ['two', ''])
  assert.deepEqual(output.rest(), ['three'])
  assert.deepEqual(output.rest(), [])
})

test('a line that does not end is told in parts, of which nothing is missing', () => {
  const output = createOutputLines()
  const pieces = Array.from({ length: 1000 }, (_, at) => `${at},`.repeat(20))

  const lines = [...pieces.flatMap((piece) => output.push(piece)), ...output.rest()]

  assert.equal(lines.join(''), pieces.join(''))
  assert.ok(Math.max(...lines.map(({ length }) => length)) <= 16 * 1024 + 100)
})
