import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { maxIgnoreBytes, readIgnoreFile } from '../../../src/docker/dockerfile/ignore-rules.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

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
