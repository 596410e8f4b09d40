// Text that strangers write is read on the daemon's event loop: logs, sources, responses. Each reader gets
// its largest input in every hostile shape. Time is CPU time, because other programs share the machine.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { extensionLimitBytes, parsePax } from '../src/archive/entries.ts'
import { unpackArchive } from '../src/archive/unpack.ts'
import { coloured } from '../src/cli/terminal/output.ts'
import { describeBuildFailure } from '../src/docker/build/build-failure.ts'
import { maxDockerfileBytes } from '../src/docker/dockerfile/build-context.ts'
import { buildKitFeature, stagesOf, withDockerfileAdvice } from '../src/docker/dockerfile/dockerfile.ts'
import { maxIgnoreBytes, parseIgnore } from '../src/docker/dockerfile/ignore-rules.ts'
import { toFailure } from '../src/docker/engine/client.ts'
import { streamLines } from '../src/docker/engine/stream-lines.ts'
import { describePullFailure } from '../src/docker/images/pull-failure.ts'
import { createFrameReader } from '../src/docker/logs/log-frames.ts'
import { createOutputLines } from '../src/docker/logs/output-lines.ts'
import { envFileLimitMib, InvalidEnvFile, parseEnvFile } from '../src/domain/env-file.ts'
import { referencesIn } from '../src/domain/env-references.ts'
import { SqlFilter } from '../src/effects/restore/plain-sql.ts'
import { Failure, messageOf } from '../src/errors.ts'
import { createProgress, GitError } from '../src/git/process.ts'
import { toFailure as toGitFailure } from '../src/git/remote-failure.ts'
import { parseRepositoryUrl, resolveRepositoryUrl } from '../src/git/repository.ts'
import { excerptOf } from '../src/http/why/why.ts'
import { extended, tarEnd, tarHeader } from './support/archive/archive.ts'
import { assertCheap, cpuMs, cpuOf, leastOf } from './support/system/cpu-time.ts'
import { temporaryDirectory } from './support/system/directory.ts'
import { sized } from './support/system/drill-size.ts'

const single = '\u00ff\u00c3\u001b\u009b\u00e9\u{1f600}\ud800a0 \t\n\r\0\\/.*?#-:=,;@!|[](){}<"\'`$%'
const several = [
  '\\\n¦\r\n¦ \n¦\n ¦\\"¦\\\\ ¦ \r¦\r\u001b[K¦%0a¦\\u0000¦\n#¦\n[¦\n"¦[]¦[^¦()¦{}¦{"a":¦[[¦${{¦${{}}¦$$¦/*',
  "\u001b;#¦\u001b[¦\u001b[;¦\u001b]¦\u001bP¦\u001b ¦\u001b[31m¦\u001b]a\u001b\\¦**/¦../¦a/¦-- ¦''¦https://",
  "a=1\n¦a: ¦a.¦a@¦Error¦Error: ¦(A::¦thread '¦fatal ¦#1 1.1 ¦[error¦*/",
]
/** Each is repeated alone, and between other text, where an expression cannot match at the end. */
const allUnits = [...single, ...several.join('¦').split('¦')]
const units = allUnits.filter((_, index) => index % sized(5, 1) === 0)
/** What begins something, and what never ends it. */
const openings = [
  '\u001b',
  '\u001b[',
  '\u001b]',
  '[',
  '(',
  '{"a":"',
  '# syntax=',
  'RUN <<',
  'RUN a',
  '"',
  "'",
  '${{',
  '\\',
  '#',
  '/*',
]
const bodies = ['a', ' ', '0', ';#', '\\', '\n', '\\\n', '[', '(', 'a.', '*', ': ']
const allPairs = openings.flatMap((opening) => bodies.map((body) => [opening, body] as const))
// 7 has no factor in common with the number of bodies, so that each opening and each body is tried.
const unendedPairs = allPairs.filter((_, index) => index % sized(7, 1) === 0)

function shapesOf(length: number): string[] {
  const filled = (unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
  const unended = unendedPairs.map(([opening, body]) => (opening + filled(body)).slice(0, length))
  return [...units.flatMap((unit) => [filled(unit), `x${filled(unit).slice(2)}x`]), ...unended]
}

const logLineChars = 16 * 1024
const tailLines = 500
const mebibyte = 1024 * 1024
const repository = parseRepositoryUrl('https://git.example.com/ada/shop')
const image = { reference: 'example.com/a:1', host: 'example.com', credentials: null }

/** A refusal is a result, and it is short. */
function refusedOr(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof Failure || error instanceof InvalidEnvFile, String(error))
    assertShort(error)
  }
}

function assertShort(error: unknown): void {
  const { length } = (error as Error).message
  assert.ok(length < 3000, `the message has ${length} characters`)
}

/** Readers that hold their input whole, with its limit; `null` if others limit it. */
const wholeReaders: [reads: string, length: number | null, read: (text: string) => unknown][] = [
  [
    'the excerpt of a log of 500 lines',
    logLineChars,
    (text) =>
      excerptOf(Array.from({ length: tailLines }, () => ({ ts: '', stream: 'stdout', line: text }) as const)),
  ],
  ['.dockerignore', maxIgnoreBytes, (text) => refusedOr(() => parseIgnore(text, '.dockerignore'))],
  [
    'a Dockerfile',
    maxDockerfileBytes,
    (text) => {
      assert.ok((buildKitFeature(text) ?? '').length < 200)
      stagesOf(text)
      withDockerfileAdvice(new Failure('build_failed', 'unknown instruction'), text, null)
    },
  ],
  ['an env file', envFileLimitMib * mebibyte, (text) => refusedOr(() => parseEnvFile(text))],
  ['the references of a value', 512 * 1024, referencesIn],
  [
    'an extended header of an archive',
    extensionLimitBytes,
    (text) => refusedOr(() => parsePax(Buffer.from(text, 'latin1'))),
  ],
  ['an address of a repository', null, (text) => refusedOr(() => parseRepositoryUrl(`https://a.b/${text}`))],
  [
    'an address of a submodule',
    null,
    (text) => refusedOr(() => resolveRepositoryUrl(repository, `../${text}`)),
  ],
  [
    'what git said',
    logLineChars,
    (text) =>
      assertShort(
        toGitFailure(new GitError('fetch', Array(50).fill(text)), {
          repository,
          credentials: null,
          ssh: null,
        }),
      ),
  ],
  [
    'a failed pull',
    null,
    (text) => assertShort(describePullFailure(`unexpected status HTTP ${text}`, image)),
  ],
  [
    'a failed build',
    null,
    (text) => {
      const message = describeBuildFailure('', { name: `[1/2] ${text}`, error: `${text}${text}` })
      assertShort(new Error(message))
    },
  ],
  [
    'a refusal of the engine',
    null,
    (text) => toFailure('ask', Object.assign(new Error(`(HTTP code 500) ${text}`), { statusCode: 500 })),
  ],
  ['an error', null, (text) => messageOf(new Error(text))],
  ['a text that the CLI prints', null, coloured],
]

for (const [reads, length, read] of wholeReaders) {
  test(`${reads} takes little CPU in every hostile shape, or only its share`, async () => {
    for (const text of shapesOf(length ?? 256 * 1024)) {
      await assertCheap((share) => read(text.slice(0, text.length * share)), nameOf(text))
    }
  })
}

/** Reads one piece, as it arrives in one turn of the event loop. */
type Take = (piece: string) => unknown

/** A frame of the engine's log: stream, size, time, message. */
function toFrame(text: string): Buffer {
  const message = Buffer.from(`2026-01-01T00:00:00.000000000Z ${text}`, 'latin1')
  const header = Buffer.alloc(8)
  header.writeUInt8(1)
  header.writeUInt32BE(message.length, 4)
  return Buffer.concat([header, message])
}

const streamReaders: [reads: string, pieceLength: number, begin: () => Take][] = [
  [
    'the output of a build step',
    logLineChars,
    () => {
      const lines = createOutputLines()
      return (piece) => lines.push(piece)
    },
  ],
  [
    'the log of an instance',
    logLineChars,
    () => {
      const frames = createFrameReader()
      return (piece) => frames.push(toFrame(piece))
    },
  ],
  [
    'the messages of git',
    64 * 1024,
    () => {
      const progress = createProgress(() => {})
      return (piece) => progress.write(piece)
    },
  ],
  [
    'an SQL file',
    logLineChars,
    () => {
      const filter = new SqlFilter()
      let isRefused = false
      return (piece) => {
        if (isRefused) return
        try {
          filter.push(Buffer.from(piece, 'latin1'))
        } catch (error) {
          isRefused = true
          assertShort(error)
        }
      }
    },
  ],
]

const streamLength = mebibyte / 4
const shortHoldMs = 50
/** Below this, the collection of garbage decides about a ratio. */
const measurableMs = 60

function feed(
  begin: () => Take,
  text: string,
  pieceLength: number,
): { usedMs: number; longestHoldMs: number } {
  const take = begin()
  const holds: number[] = []
  for (let at = 0; at < text.length; at += pieceLength) {
    holds.push(cpuMs(() => take(text.slice(at, at + pieceLength))))
  }
  return { usedMs: holds.reduce((sum, hold) => sum + hold, 0), longestHoldMs: Math.max(...holds) }
}

for (const [reads, pieceLength, begin] of streamReaders) {
  test(`${reads} never holds the event loop for long, and twice as much takes twice as long`, async () => {
    for (const text of shapesOf(streamLength)) {
      const holdMs = await leastOf(() => feed(begin, text, pieceLength).longestHoldMs, shortHoldMs)
      assert.ok(holdMs < shortHoldMs, `${nameOf(text)} held it for ${Math.round(holdMs)} ms`)
      const { usedMs } = feed(begin, text, pieceLength)
      if (usedMs < measurableMs) continue
      const half = text.slice(0, text.length / 2)
      const ratio = await leastOf(
        () => feed(begin, text, pieceLength).usedMs / feed(begin, half, pieceLength).usedMs,
        2.5,
      )
      assert.ok(ratio < 2.5, `${nameOf(text)} took ${ratio.toFixed(1)} times as long`)
    }
  })
}

test('a message of the engine in many chunks takes under a second of CPU up to its limit', async () => {
  const chunk = Buffer.alloc(64 * 1024, '[')
  const messageOfMib = async function* (mib: number) {
    for (let count = 0; count < mib * 16; count++) yield chunk
    yield Buffer.from('\n')
  }
  const read = async (mib: number) => {
    for await (const line of streamLines(messageOfMib(mib))) assert.equal(line.length, mib * mebibyte)
  }

  const { usedMs } = await cpuOf(() => read(31))

  assert.ok(usedMs < 1000, `${Math.round(usedMs)} ms`)
  await assert.rejects(read(33), { message: 'a message of Docker is larger than 32 MiB' })
})

test('an archive with the largest extended headers does not hold the event loop', async (t) => {
  const path = temporaryDirectory(t)
  const extension = extended('x', `520 note=${'x'.repeat(510)}\n`.repeat(1000))
  const parts = [...Array<Buffer>(30).fill(extension), tarHeader({ name: 'file' }), tarEnd]
  writeFileSync(join(path, 'upload.tar.gz'), gzipSync(Buffer.concat(parts)))
  const { signal } = new AbortController()
  const unpack = () =>
    unpackArchive({ file: join(path, 'upload.tar.gz'), directory: join(path, 'source'), signal })

  // There are 30 headers, and other events get their turn after each.
  const share = await leastOf(async () => {
    const { longestHoldMs, usedMs } = await cpuOf(unpack)
    return longestHoldMs / usedMs
  }, 0.1)
  assert.ok(share < 0.1, `one turn took ${Math.round(share * 100)} % of the time`)
})

function nameOf(text: string): string {
  return `${JSON.stringify(text.slice(0, 20))} …`
}
