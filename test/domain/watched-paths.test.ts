// The patterns of watched paths cover what git's patterns cover, in no more time than their lengths allow.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWatchedPaths } from '../../src/domain/watched-paths.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const names = ['a', 'b', 'ab', 'ba', 'a.c', '.a', 'b-c', 'ü']
const parts = ['**', '*', 'a*', '*b', '?', '?b', '[ab]', '[!a]', '[^b]*', '[a-c].c', '[]a]', 'a**b', ...names]
const paths = names.flatMap((one) => [one, ...names.flatMap((two) => [`${one}/${two}`, `${one}/${two}/a/b`])])

test('a pattern covers the paths that git ignores by it', (t) => {
  const { directory } = createRepository(t)
  const file = join(temporaryDirectory(t), 'patterns')
  const ignored = (pattern: string) => {
    writeFileSync(file, `${pattern}\n`)
    const args = ['-c', `core.excludesFile=${file}`, 'check-ignore', '--no-index', '-z', '--stdin']
    const { stdout, stderr } = spawnSync('git', args, { cwd: directory, input: paths.join('\0') })
    assert.equal(stderr.toString(), '')
    return stdout.toString().split('\0').slice(0, -1)
  }
  const patterns = parts.flatMap((one, index) => {
    const other = parts[(index * 7 + 3) % parts.length]!
    return [
      one,
      `/${one}`,
      `${one}/`,
      `${one}/${other}`,
      `**/${one}/${other}`,
      `${one}/**/${other}/`,
      `${one}/**`,
    ]
  })
  for (const pattern of patterns) {
    const covers = openWatchedPaths([pattern])
    // git counts bytes, so that `?` is half of an ü.
    const isPlain = (path: string) => !path.includes('ü') || !/[?[]/.test(pattern)
    const ours = paths.filter((path) => covers(path) !== null)
    assert.deepEqual(ours.filter(isPlain), ignored(pattern).filter(isPlain), pattern)
  }
})

test('the last pattern that covers a path decides, also deep below another one', () => {
  const decisive = openWatchedPaths(['services/api/**', 'lib/**', '!**/*.md', 'lib/KEEP.md'])
  const found = (path: string) => decisive(path)?.text ?? null
  assert.equal(found('services/api/main.ts'), 'services/api/**')
  assert.equal(found('services/api/docs/deep/README.md'), '!**/*.md')
  assert.equal(decisive('services/api/docs/deep/README.md')!.isExclusion, true)
  assert.equal(found('lib/KEEP.md'), 'lib/KEEP.md')
  assert.equal(found('services/web/main.ts'), null)
})

test('hostile patterns and paths take no longer than others', () => {
  const deep = `${'a/'.repeat(2000)}c`
  const cases: [pattern: string, path: string][] = [
    ['**/a/**/a/**/a/**/a/**/b', deep],
    [`${'*a'.repeat(200)}b`, 'a'.repeat(4000)],
    [`${'**/'.repeat(150)}b`, deep],
  ]
  const startedAt = performance.now()
  for (const [pattern, path] of cases) assert.equal(openWatchedPaths([pattern])(path), null)
  // The first one took a regular expression longer than an hour.
  assert.ok(performance.now() - startedAt < 60_000)
})
