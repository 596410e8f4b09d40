import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createImageArchive } from '../../src/base-images/image-archive.ts'
import { createRootFilesystem } from '../../src/base-images/root-filesystem.ts'

const settings = { Env: [], Cmd: ['sh'], Labels: {} }

test('the same files produce the same image, in any order', async () => {
  const one = createRootFilesystem()
  one.file('bin/hello', 'hello')
  one.symlink('etc/greeting', '/bin/hello')
  const other = createRootFilesystem()
  other.symlink('/etc/greeting', '/bin/hello')
  other.file('./usr/bin/hello', 'hello')

  const archives = [one, other].map(async (root) => createImageArchive('x:1', await root.toTar(), settings))

  const [first, second] = await Promise.all(archives)
  assert.deepEqual(first, second)
})
