import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFrameReader, type TimedLine, toLogLine } from '../../../src/docker/logs/log-frames.ts'
import { createOutputLines } from '../../../src/docker/logs/output-lines.ts'

const time = '2026-01-02T03:04:05.678901234Z'
const later = '2026-01-02T03:04:05.678901235Z'

test('lines of both streams are distinguished and keep their order', () => {
  const lines = read([frame(1, 'one\n'), frame(2, 'two\n'), frame(1, '\n'), frame(1, 'a b\r\n')])

  assert.deepEqual(lines, [
    line('stdout', 'one'),
    line('stderr', 'two'),
    line('stdout', ''),
    line('stdout', 'a b'),
  ])
})

test('a stream cut anywhere into chunks reads the same', () => {
  const frames = Buffer.concat([frame(1, 'grüße\n'), frame(2, 'x'), frame(1, '日本語\n'), frame(2, 'y\n')])
  const whole = read([frames])

  for (let size = 1; size <= frames.length; size++)
    assert.deepEqual(read(chunks(frames, size)), whole, `${size}`)
})

test('a long line in several frames is one line with the time of its start', () => {
  const half = 'a'.repeat(8_000)

  assert.deepEqual(read([frame(1, half), frame(1, `${half}\n`, later)]), [line('stdout', half + half)])
})

test('a line over 16 KiB is split between characters', () => {
  const text = `${'a'.repeat(16_383)}ü${'b'.repeat(16_384)}`

  const lines = read([frame(1, `${text}\n`)]).map((one) => one.line)

  assert.deepEqual(lines, ['a'.repeat(16_383), `ü${'b'.repeat(16_382)}`, 'bb'])
})

test('a line of exactly 16 KiB is not followed by an empty one', () => {
  const text = 'a'.repeat(16_384)

  assert.deepEqual(read([frame(1, text), frame(1, '\n', later)]), [line('stdout', text)])
})

test('a line that was overwritten has its last state, as a terminal shows it', () => {
  const shown = {
    '10%\r20%\r100%\n': '100%',
    '10%\r20%\r\r\n': '20%',
    'a b\r\n': 'a b',
    '\r\n': '',
    '10%\r\x1b[K100%\x1b[K\r\n': '\x1b[K100%\x1b[K',
    '\r50%\r': '50%',
  }
  for (const [text, state] of Object.entries(shown)) {
    assert.deepEqual(read([frame(1, text)]), [line('stdout', state)], JSON.stringify(text))
  }
})

test('progress without a line break takes no more memory than a line, and loses only former states', () => {
  const states = Array.from({ length: 9000 }, (_, index) => `ü ${index}\r`)
  const reader = createFrameReader()

  const during = states.flatMap((state) => reader.push(frame(1, state)))
  const atEnd = reader.push(frame(1, '\n'))

  assert.deepEqual([during, atEnd], [[], [line('stdout', 'ü 8999')]])
})

test('a last line without a line break is not lost', () => {
  assert.deepEqual(read([frame(2, 'Killed')]), [line('stderr', 'Killed')])
})

test('a line is shown with its time to the millisecond', () => {
  assert.deepEqual(toLogLine(line('stdout', 'x')), {
    ts: '2026-01-02T03:04:05.678Z',
    stream: 'stdout',
    line: 'x',
  })
})

function read(parts: Uint8Array[]): TimedLine[] {
  const reader = createFrameReader()
  return [...parts.flatMap(reader.push), ...reader.end()]
}

function line(stream: 'stdout' | 'stderr', text: string): TimedLine {
  return { time, stream, line: text }
}

function frame(stream: 1 | 2, text: string, at = time): Buffer {
  const message = Buffer.from(`${at} ${text}`)
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(message.length, 4)
  return Buffer.concat([header, message])
}

function chunks(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  )
}

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
