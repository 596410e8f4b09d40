import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRootFilesystem } from '../../src/base-images/root-filesystem.ts'

test('a package file in a linked folder is placed behind the link', async () => {
  const packaged = createRootFilesystem()
  packaged.file('lib/x86_64/libc.so', 'code')
  const root = createRootFilesystem()

  await root.unpack(await packaged.toTar())

  assert.equal(root.read('/usr/lib/x86_64/libc.so').toString(), 'code')
  assert.deepEqual(root.paths('lib'), [])
})

test('a removed file is in no archive', async () => {
  const root = createRootFilesystem()
  const before = await root.toTar()
  root.file('usr/lib/needless.so', 'code')

  root.remove('/lib/needless.so')

  assert.equal(root.has('usr/lib/needless.so'), false)
  assert.deepEqual(await root.toTar(), before)
})
