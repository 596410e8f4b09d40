// Stored archives: complete or absent, and readable only by their owner.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openArchives } from '../../storage/archives.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { smallDisk } from '../support/system/small-disk.ts'

const bytes = (text: string) => [...text].map((letter) => Buffer.from(letter))

function open(t: TestContext, directory = join(temporaryDirectory(t), 'archives')) {
  return { directory, archives: openArchives(directory, (id) => id !== 'dep-uncommitted') }
}

test('a draft is invisible until it is committed, then it is complete', async (t) => {
  const { directory, archives } = open(t)
  const draft = archives.create()
  assert.deepEqual(readdirSync(directory), [])

  await draft.write(bytes('abc'))
  await draft.write(bytes('d'))
  assert.deepEqual([await archives.ids(), archives.has('dep-1')], [[], false])
  await draft.commit('dep-1')

  assert.deepEqual([await archives.ids(), archives.has('dep-1')], [['dep-1'], true])
  assert.equal(readFileSync(archives.path('dep-1'), 'utf8'), 'abcd')
  assert.deepEqual(readdirSync(directory), ['dep-1.tar.gz'])
})

test('directory and files are accessible only to their owner, under any umask', async (t) => {
  const previous = process.umask(0)
  t.after(() => process.umask(previous))
  const { directory, archives } = open(t)
  const draft = archives.create()
  await draft.write(bytes('a'))
  await draft.commit('dep-1')

  const modes = [directory, archives.path('dep-1')].map((path) => (statSync(path).mode & 0o777).toString(8))
  assert.deepEqual(modes, ['700', '600'])
})

test('an abandoned draft is deleted, a committed one stays, an unstarted one does not exist', async (t) => {
  const { directory, archives } = open(t)
  const [abandoned, kept, unused] = [archives.create(), archives.create(), archives.create()]
  for (const draft of [abandoned, kept]) await draft.write(bytes('x'))
  await kept.commit('dep-1')

  for (const draft of [abandoned, abandoned, kept, unused]) await draft.discard()

  assert.deepEqual(readdirSync(directory), ['dep-1.tar.gz'])
})

test('removing an archive twice has no further effect', async (t) => {
  const { archives } = open(t)
  const draft = archives.create()
  await draft.write(bytes('x'))
  await draft.commit('dep-1')

  await archives.remove('dep-1')
  await archives.remove('dep-1')

  assert.deepEqual([await archives.ids(), archives.has('dep-1')], [[], false])
})

test('leftovers of uploads after a crash are removed when the directory is opened', async (t) => {
  const { directory } = open(t)
  for (const name of ['0123.part', 'dep-uncommitted.tar.gz', 'dep-1.tar.gz'])
    writeFileSync(join(directory, name), 'x')

  open(t, directory)

  assert.deepEqual(readdirSync(directory), ['dep-1.tar.gz'])
})

test('a full disk rejects the draft, which leaves nothing behind', async (t) => {
  const directory = join(smallDisk(t, 1), 'archives')
  mkdirSync(directory)
  const { archives } = open(t, directory)
  const draft = archives.create()
  const half = Buffer.alloc(700_000)

  await draft.write([half])
  await assert.rejects(draft.write([half]), { code: 'ENOSPC' })
  await draft.discard()

  assert.deepEqual(readdirSync(directory), [])
})
