// Text that strangers write is read on the daemon's event loop: logs, sources, responses. Each reader gets
// its largest input in every hostile shape. Time is CPU time, because other programs share the machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coloured } from '../src/cli/terminal/output.ts'
import { maxIgnoreBytes } from '../src/docker/dockerfile/ignore-file.ts'
import { parseIgnore } from '../src/docker/dockerfile/ignore-rules.ts'
import { createOutputLines } from '../src/docker/logs/output-lines.ts'
import { Failure } from '../src/errors.ts'
import { excerptOf } from '../src/http/why/diagnosis.ts'
import { cpuMs } from './support/cpu-time.ts'

const single = '\u001b\u009b\u00e9\u{1f600}\ud800a0 \t\n\r\0\\/.*?#-:=,;@!|[](){}<"\'`$%'
const several = [
  '\\\n¦\r\n¦ \n¦\n ¦\\"¦\\\\ ¦ \r¦\r\u001b[K¦%0a¦\\u0000¦\n#¦\n[¦\n"¦[]¦[^¦()¦{}¦{"a":¦[[¦${{¦${{}}¦$$¦/*',
  "\u001b;#¦\u001b[¦\u001b[;¦\u001b]¦\u001bP¦\u001b ¦\u001b[31m¦\u001b]a\u001b\\¦**/¦../¦a/¦-- ¦''¦https://",
  "a=1\n¦a: ¦a.¦a@¦Error¦Error: ¦(A::¦thread '¦fatal ¦#1 1.1 ¦[error¦*/",
]
/** Each is repeated alone, and between other text, where an expression cannot match at the end. */
const units = [...single, ...several.join('¦').split('¦')]
/** What begins something, and what never ends it. */
const openings = ['\u001b', '\u001b[', '\u001b]', '[', '(', '{"a":"', '"', "'", '${{', '\\', '#', '/*']
const bodies = ['a', ' ', '0', ';#', '\\', '\n', '\\\n', '[', '(', 'a.', '*', ': ']

function shapesOf(length: number): string[] {
  const filled = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
  const unended = openings.flatMap((opening) =>
    bodies.map((body) => (opening + filled(body)).slice(0, length)),
  )
  return [...units.flatMap((unit) => [filled(unit), `x${filled(unit).slice(2)}x`]), ...unended]
}

const logLineChars = 16 * 1024
const tailLines = 500

interface Reader {
  reads: string
  /** The limit of the input. */
  length: number
  read(text: string): unknown
}

/** A refusal is a result, and it is short. */
function refusedOr(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
    assert.ok(error.message.length < 500, `the message has ${error.message.length} characters`)
  }
}

const readers: Reader[] = [
  {
    reads: 'the excerpt of a log of 500 lines',
    length: logLineChars,
    read: (text) =>
      excerptOf(Array.from({ length: tailLines }, () => ({ ts: '', stream: 'stdout', line: text }) as const)),
  },
  {
    reads: 'the output of a build step',
    length: 1024 * 1024,
    read(text) {
      const lines = createOutputLines()
      for (let at = 0; at < text.length; at += logLineChars) lines.push(text.slice(at, at + logLineChars))
      return lines.remainder()
    },
  },
  {
    reads: '.dockerignore',
    length: maxIgnoreBytes,
    read: (text) => refusedOr(() => parseIgnore(text, '.dockerignore')),
  },
  { reads: 'a text that the CLI prints', length: 256 * 1024, read: coloured },
]

for (const { reads, length, read } of readers) {
  test(`${reads} takes under a second of CPU in every hostile shape`, () => {
    for (const text of shapesOf(length)) {
      const usedMs = cpuMs(() => read(text))
      assert.ok(usedMs < 1000, `${JSON.stringify(text.slice(0, 20))} …: ${Math.round(usedMs)} ms`)
    }
  })
}
