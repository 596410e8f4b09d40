import assert from 'node:assert/strict'
import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isInside, resolveInside } from '../../src/sources/source-path.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('a path outside the source looks like a missing one, whether it exists or not', async (t) => {
  const outside = realpathSync(temporaryDirectory(t))
  writeTree(outside, { secret: '', 'source/..app': '' })
  const source = join(outside, 'source')
  symlinkSync('../secret', join(source, 'there'))
  symlinkSync('../nosuch', join(source, 'gone'))
  symlinkSync('..app', join(source, 'link'))

  for (const path of ['there', 'gone', '../secret', '../nosuch', '..', 'nosuch']) {
    const message = `the root dir ${path} is not in the source`
    await assert.rejects(resolveInside(source, path, 'the root dir'), { message })
    assert.equal(await isInside(source, path), false)
  }
  assert.equal(await resolveInside(source, 'link', 'the root dir'), join(source, '..app'))
})
