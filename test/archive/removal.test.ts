// Removing a tree: all of it, and nothing that its links lead to.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeTree } from '../../src/archive/removal.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('everything below the folder is removed; link targets stay', async (t) => {
  const home = temporaryDirectory(t)
  const files = Array.from({ length: 200 }, (_, index) => [`d${index % 5}/deep/er/f${index}`, 'x'])
  writeTree(join(home, 'tree'), Object.fromEntries(files))
  writeTree(join(home, 'kept'), { file: 'x' })
  mkdirSync(join(home, 'tree/empty'))
  for (const target of ['../kept', '../kept/file', 'nowhere']) {
    symlinkSync(target, join(home, 'tree', `to-${target.replaceAll('/', '-')}`))
  }

  await removeTree(join(home, 'tree'))
  await removeTree(join(home, 'tree'))

  assert.deepEqual([readdirSync(home), readdirSync(join(home, 'kept'))], [['kept'], ['file']])
})
