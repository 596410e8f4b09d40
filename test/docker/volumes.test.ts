import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownerLabels } from '../../src/docker/names.ts'
import { ensureVolume, listVolumes, removeVolume } from '../../src/docker/volumes.ts'
import { openDockerSite, testOwner } from '../support/docker-site.ts'

test('a volume is made once with its labels, listed, and removed once', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-disk`

  const made = await ensureVolume(engine, owner, name, { 'berth.service': 'web' })
  const again = await ensureVolume(engine, owner, name, { 'berth.service': 'other' })

  assert.deepEqual(made, { name, labels: { 'berth.service': 'web', ...ownerLabels(owner) } })
  assert.deepEqual(again, made)
  assert.deepEqual(await listVolumes(engine, owner), [made])
  await removeVolume(engine, owner, name)
  await removeVolume(engine, owner, name)
  assert.deepEqual(await listVolumes(engine, owner), [])
})

test('a volume of somebody else is neither adopted nor removed', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-disk`
  const stranger = { ...owner, serverId: testOwner().serverId }
  await ensureVolume(engine, stranger, name)

  await assert.rejects(ensureVolume(engine, owner, name), { code: 'docker_error', message: /somebody else/ })
  await assert.rejects(removeVolume(engine, owner, name), { code: 'docker_error', message: /somebody else/ })

  assert.equal((await listVolumes(engine, stranger)).length, 1)
})

test('a volume in use is not removed', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const { name } = await ensureVolume(engine, owner, `${owner.prefix}-disk`)
  await instances.ensure(await spec({ volume: { name, mountPath: '/data' } }))

  await assert.rejects(removeVolume(engine, owner, name), { code: 'docker_error', message: /in use/ })
})
