// The texts of a source, parsed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { treeOf } from '../../src/recipes/tree.ts'

test('JSON may have comments and trailing commas, but not in its strings', () => {
  const text = '{ // one\n "a": "x // y, ]", /* two, } */ "b": [1, 2,], }'
  assert.deepEqual(treeOf({ 'turbo.json': text }).json('turbo.json'), { a: 'x // y, ]', b: [1, 2] })
})

test('what cannot be parsed is an empty object', () => {
  const tree = treeOf({ 'a.json': '{', 'b.json': '[1]', 'c.toml': '[[' })
  const values = [tree.json('a.json'), tree.json('b.json'), tree.toml('c.toml'), tree.json('missing.json')]
  assert.deepEqual(values, [{}, {}, {}, {}])
})

test('the tree of a folder has the paths of that folder', () => {
  const tree = treeOf({ 'apps/web/package.json': '{"name":"web"}', 'apps/web2/x': '' }).in('apps/web')
  assert.deepEqual([...tree.files], ['package.json'])
  assert.equal(tree.json('package.json').name, 'web')
})
