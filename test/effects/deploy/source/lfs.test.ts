// Files of git LFS that were not fetched are named in the log of the deploy.
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findLfsPointers, logLfsPointers } from '../../../../src/effects/deploy/source/source.ts'
import type { ActorLog } from '../../../../src/effects/logs/actor-log.ts'
import { writeTree } from '../../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../../support/system/directory.ts'

const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`

test('LFS pointers are found in any folder, without false positives', async (t) => {
  const folder = temporaryDirectory(t)
  const long = `${pointer}${'x'.repeat(1024)}`
  writeTree(folder, {
    'a.bin': pointer,
    'deep/er/b.bin': pointer,
    'README.md': `# ${pointer}`,
    long,
    empty: '',
  })
  symlinkSync('a.bin', join(folder, 'link'))
  symlinkSync('..', join(folder, 'deep/up'))

  assert.deepEqual((await findLfsPointers(folder)).sort(), ['a.bin', 'deep/er/b.bin'])
})

test('the log names the first five and counts the others', async (t) => {
  const folder = temporaryDirectory(t)
  const names = Array.from({ length: 7 }, (_, index) => `${index}.bin`)
  writeTree(folder, Object.fromEntries(names.map((name) => [name, pointer])))
  const lines: string[] = []

  await logLfsPointers(folder, { info: (line: string) => lines.push(line) } as unknown as ActorLog)

  assert.equal(lines.length, 6)
  assert.match(
    lines[0]!,
    /^\d\.bin is a Git LFS pointer; its content is not fetched, the build gets the pointer$/,
  )
  assert.equal(lines[5], '2 more files are Git LFS pointers')
})

test('a name that is not UTF-8 does not fail the search', async (t) => {
  const folder = temporaryDirectory(t)
  writeTree(folder, { 'a.bin': pointer })
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/f`), Buffer.from([0xe9])]), pointer)
  mkdirSync(Buffer.concat([Buffer.from(`${folder}/d`), Buffer.from([0xe9])]))

  assert.deepEqual(await findLfsPointers(folder), ['a.bin'])
})
