// What .dockerignore patterns mean, compared with the library that implements the engine's rules; and that no
// pattern is slow, which that library does not guarantee.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import dockerignore from '@balena/dockerignore'
import {
  ignoreRules,
  maxIgnoreBytes,
  maxPatternLength,
  maxPatterns,
  parseIgnore,
  readIgnoreFile,
} from '../../../src/docker/dockerfile/ignore-rules.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { cpuOf, leastOf } from '../../support/system/cpu-time.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const patterns = String.raw`
  a /a/ a/b ./a/../b * *.js a* */b ** **/b a/** a** a/**/b **/a/** **/*.*.js ? ?.js [ab] [^a] [a-c].js
  \* a\.js \a $a a.js */* **/** *** **/a/**/b a/*/b .. . .a **/.*`
  .trim()
  .split(/\s+/)
const paths =
  'a b c ab a.js b.js a.b.js * $a .a axjs a/b a/.a b/a a/c/b b/a.js c/a/b c/a/d/b a/a/a c/d/b c/a.b.js ' +
  'a/c d/e/f/g'

test('a pattern matches what the engine matches', async () => {
  for (const pattern of patterns) {
    const known = dockerignore.default({ ignorecase: false }).add([pattern])
    for (const path of paths.split(' ')) {
      const ignored = await ignoreRules([pattern]).ignores(path)
      assert.equal(ignored, known.ignores(path), `${pattern} on ${path}`)
    }
  }
})

test('** before plain text matches any path with that ending, before a pattern any folder', async () => {
  const logs = ignoreRules(['**.log'])
  const paths = ['.log', 'x.log', 'a/b/x.log', 'a/x.log/b', 'x.logs', 'log']
  const ignored = await Promise.all(paths.map((path) => logs.ignores(path)))

  assert.deepEqual(ignored, [true, true, true, true, false, false])
  assert.equal(await ignoreRules(['**b/c']).ignores('a/xb/c'), true)
  assert.equal(await ignoreRules(['**b/c']).ignores('a/xb/xc'), false)
  assert.equal(await ignoreRules(['**b?']).ignores('a/bc'), true)
  assert.equal(await ignoreRules(['**b?']).ignores('a/xbc'), false)
})

test('the last matching pattern decides, and an exception re-includes', async () => {
  const rules = parseIgnore('docs\n!docs/keep\n#docs/keep\ndocs/keep/not\n', '.dockerignore')

  const ignored = await Promise.all(
    ['docs/a', 'docs/keep', 'docs/keep/not', 'x'].map((path) => rules.ignores(path)),
  )

  assert.deepEqual(ignored, [true, false, true, false])
  assert.equal(rules.hasExceptions, true)
})

test('special characters of regular expressions are literal', async () => {
  for (const name of ['c++', '(a)', '{1}', 'a|b', '^a', 'constructor', '\\(a', 'app/(shop)', '(a+)+b']) {
    assert.equal(await ignoreRules([name.replaceAll('\\', '\\\\')]).ignores(name), true, name)
  }
  assert.equal(await ignoreRules(['\\d']).ignores('7'), false)
})

test('an expensive or invalid pattern is refused with its line', () => {
  const refused = (pattern: string, message: string | RegExp) =>
    assert.throws(() => parseIgnore(`# one\n\n${pattern}`, '.dockerignore'), {
      code: 'build_failed',
      message,
    })
  const line = 'line 3 of .dockerignore'

  refused('*a*a*a*a*a*ab', `${line} has more than 2 * in '*a*a*a*a*a*ab'`)
  refused('!x/*a*b*/y', `${line} has more than 2 * in '*a*b*'`)
  refused('**/a/**/b/**/c', `${line} has more than 2 **`)
  refused('[a', `${line} is not a pattern: '[' has no ']'`)
  refused('[\\]a', `${line} is not a pattern: '[' has no ']'`)
  refused('[z-a]', `${line} is not a pattern: Range out of order in character class`)
  refused('[]: a', `${line} is not a pattern: Unterminated character class`)
  refused('a'.repeat(maxPatternLength + 1), `${line} is longer than 512 characters`)
})

test('more patterns than the limit are refused', () => {
  const message = '.dockerignore has more than 4096 patterns'
  parseIgnore('a\n'.repeat(maxPatterns), '.dockerignore')

  assert.throws(() => parseIgnore('a\n'.repeat(maxPatterns + 1), '.dockerignore'), { message })
  assert.throws(() => ignoreRules(Array(maxPatterns + 1).fill('a')), {
    code: 'build_failed',
    message: '.dockerignore, with what Berth adds, has more than 4096 patterns',
  })
})

test('the worst allowed pattern takes hardly longer than a harmless one', async () => {
  const name = 'a'.repeat(255)
  const deep = [name, `${name}/`.repeat(15) + name, `${'a/'.repeat(2000)}a`]
  const worst = [
    '**/*a*b/**/*a*b',
    '**/a/**/b',
    `**/${'*a*/'.repeat(30)}**/b`,
    '**/[^b]*[^b]*b/**/*?*?b',
    '(a+)+b',
  ]
  const harmlessMs = await measure(['x', '**/x'], deep)

  for (const pattern of worst) {
    const ms = await measure([pattern], deep)
    assert.ok(ms < 1000 + 100 * harmlessMs, `${pattern}: ${ms} ms, a harmless one ${harmlessMs} ms`)
  }
})

async function measure(lines: string[], tried: string[]): Promise<number> {
  const rules = ignoreRules(lines)
  const start = performance.now()
  for (const path of tried) assert.equal(await rules.ignores(path), false)
  return performance.now() - start
}

test('matching thousands of bad patterns does not block other work, and ends with an abort', async () => {
  const rules = ignoreRules(Array(maxPatterns).fill('**/*a*b/**/*a*b'))

  const match = async () => (await cpuOf(() => rules.ignores('a'.repeat(255)))).longestHoldMs
  const holdMs = await leastOf(match, 50)

  assert.ok(holdMs < 50, `${holdMs} ms`)
  const signal = AbortSignal.abort(new Error('canceled'))
  await assert.rejects(rules.ignores('a'.repeat(255), signal), { message: 'canceled' })
})

function tree(t: TestContext, files: Record<string, string> = {}): string {
  const root = temporaryDirectory(t)
  writeTree(root, files)
  return root
}

test('a file up to the limit is read, a larger one is refused without being read completely', async (t) => {
  const root = tree(t, { fits: '#'.repeat(maxIgnoreBytes), large: 'a\n'.repeat(20 * 1024 * 1024) })

  assert.equal((await readIgnoreFile(root, 'fits'))?.text.length, maxIgnoreBytes)
  const refusal = { code: 'build_failed', message: 'large is larger than 256 KiB' }
  await assert.rejects(readIgnoreFile(root, 'large'), refusal)
})

test('a folder or a pipe of that name is refused with a message', async (t) => {
  const root = tree(t)
  mkdirSync(join(root, '.dockerignore'))
  execFileSync('mkfifo', [join(root, 'pipe')])

  const refusal = { code: 'build_failed', message: '.dockerignore is not a file' }
  await assert.rejects(readIgnoreFile(root, '.dockerignore'), refusal)
  await assert.rejects(readIgnoreFile(root, 'pipe'), { message: 'pipe is not a file' })
})

test('a missing file and a link that points out do not count; a link inside does', async (t) => {
  const outside = tree(t, { patterns: 'a' })
  const root = tree(t, { patterns: 'b' })
  symlinkSync(join(outside, 'patterns'), join(root, 'out'))
  symlinkSync('patterns', join(root, 'in'))

  assert.equal(await readIgnoreFile(root, '.dockerignore'), null)
  assert.equal(await readIgnoreFile(root, 'out'), null)
  assert.equal((await readIgnoreFile(root, 'in'))?.text, 'b')
})
