import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as names from '../../../src/docker/engine/names.ts'

const owner = { prefix: 'berth', serverId: 'one' }
const deployId = 'dep-01hzy7k9m00000000000000000'

test('names are derived from ids alone', () => {
  assert.equal(names.containerName(owner, 'my-web', deployId, 2), 'berth-my-web-01hzy7k9m00000000000000000-2')
  assert.equal(names.imageName(owner, 'my-web', deployId), `berth/my-web:${deployId}`)
  assert.equal(names.volumeName(owner, 'svc-01'), 'berth-svc-01')
})

test('an image name is parsed back into its parts, and a foreign name is not parsed', () => {
  const name = names.imageName(owner, 'my-web', deployId)
  const tree = names.treeName(owner, 'my-web', deployId)
  assert.deepEqual(names.parseImageName(owner, name), { service: 'my-web', deployId, isTree: false })
  assert.deepEqual(names.parseImageName(owner, tree), { service: 'my-web', deployId, isTree: true })
  for (const name of [
    'node:20',
    'berth/web',
    'berth2/web:dep-1',
    'host/berth/web:1',
    'berth/web/x:1',
    'berth:1',
    `berth/web:${deployId}.else`,
  ]) {
    assert.equal(names.parseImageName(owner, name), null, name)
  }
})

test('one of the two owner labels is not enough for ownership', () => {
  const ours = { 'berth.instance': 'berth', 'berth.server': 'one' }

  assert.equal(names.isOurs(owner, ours), true)
  assert.equal(names.isOurs(owner, { ...ours, 'berth.server': 'two' }), false)
  assert.equal(names.isOurs(owner, { ...ours, 'berth.instance': 'other' }), false)
  assert.equal(names.isOurs(owner, { 'berth.instance': 'berth' }), false)
  assert.equal(names.isOurs(owner, null), false)
})

test('the filter requires both owner labels', () => {
  assert.deepEqual(names.ownerFilter(owner), ['berth.instance=berth', 'berth.server=one'])
})
