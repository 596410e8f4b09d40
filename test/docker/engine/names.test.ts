import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as names from '../../../src/docker/engine/names.ts'
import { testMac } from '../../support/system/test-mac.ts'

const owner = { prefix: 'berth', serverId: 'one', mac: testMac }
const deployId = 'dep-01hzy7k9m00000000000000000'

const web = { serviceName: 'my-web', deployId }

test('a name of an instance, an image or a job ends in a MAC of the id, and every MAC is another', () => {
  const containers = [
    names.containerName(owner, { ...web, index: 2 }),
    names.jobName(owner, 'my-web', 'job-01hzy7k9m00000000000000000'),
    names.preDeployName(owner, 'my-web', deployId),
  ]
  const image = names.imageName(owner, 'my-web', deployId)

  assert.match(containers[0]!, /^berth-my-web-[a-z2-7]{16}-2$/)
  assert.match(containers[1]!, /^berth-my-web-[a-z2-7]{16}-job$/)
  assert.match(containers[2]!, /^berth-my-web-[a-z2-7]{16}-pre-deploy$/)
  assert.match(image, /^berth\/my-web:dep-01hzy7k9m00000000000000000-[a-z2-7]{16}$/)
  // The name of a container can be looked up by its neighbours, so it must not give the name of the image.
  const macs = [...containers, image].map((name) => /[a-z2-7]{16}(?=-(?:2|job)$|$)/.exec(name)?.[0])
  assert.equal(new Set(macs.filter(Boolean)).size, 3)
  assert.equal(names.volumeName(owner, 'svc-01'), 'berth-svc-01')
})

test('a container and an image of the former version have a current name', () => {
  const tree = `berth/my-web:${deployId}.tree`
  assert.equal(
    names.formerContainerName(owner, { ...web, index: 2 }),
    'berth-my-web-01hzy7k9m00000000000000000-2',
  )
  assert.deepEqual(names.currentImageName(owner, tree), {
    name: names.treeName(owner, 'my-web', deployId),
    deployId,
  })
  const image = names.imageName(owner, 'my-web', deployId)
  for (const name of [image, 'berth/my-web:latest', `other/my-web:${deployId}`, `berth/my-web:${deployId}x`])
    assert.equal(names.currentImageName(owner, name), null, name)
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
    `berth/web:${deployId}`,
    `berth/web:${deployId}-aaaaaaaaaaaaaaaa`,
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
