import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  claimVolume,
  ensureVolume,
  hasVolume,
  listVolumes,
  removeVolume,
} from '../../../src/docker/containers/volumes.ts'
import { ownerLabels } from '../../../src/docker/engine/names.ts'
import { openDockerSite, testOwner } from '../../support/docker/docker-site.ts'

test('a volume is created once with its labels, listed, and removed once', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-disk`

  const first = await ensureVolume(engine, owner, name, { 'berth.service': 'web' })
  const again = await ensureVolume(engine, owner, name, { 'berth.service': 'other' })

  const volume = { name, labels: { 'berth.service': 'web', ...ownerLabels(owner) } }
  assert.deepEqual(first, { ...volume, isNew: true })
  assert.deepEqual(again, { ...volume, isNew: false })
  assert.deepEqual(await listVolumes(engine, owner), [volume])
  await removeVolume(engine, owner, name)
  await removeVolume(engine, owner, name)
  assert.deepEqual(await listVolumes(engine, owner), [])
})

test('a foreign volume is neither adopted nor removed', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-disk`
  const foreign = { ...owner, serverId: testOwner().serverId }
  await ensureVolume(engine, foreign, name)

  await assert.rejects(ensureVolume(engine, owner, name), {
    code: 'docker_error',
    message: /does not belong to this server/,
  })
  await assert.rejects(removeVolume(engine, owner, name), {
    code: 'docker_error',
    message: /does not belong to this server/,
  })

  assert.equal((await listVolumes(engine, foreign)).length, 1)
})

test('a volume in use is not removed', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const { name } = await ensureVolume(engine, owner, `${owner.prefix}-disk`)
  await instances.ensure(await spec({ volume: { name, mountPath: '/data' } }))

  await assert.rejects(removeVolume(engine, owner, name), { code: 'docker_error', message: /in use/ })
})

const claimOf = (id: string) => ({ 'berth.kind': 'datastore', 'berth.id': id, 'berth.service': 'shop-db' })

test('a volume is claimed for one id: again for the same one, and for no other', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-datastore-shop-db`

  const volume = await claimVolume(engine, owner, name, claimOf('dst-1'))
  const again = await claimVolume(engine, owner, name, claimOf('dst-1'))

  assert.deepEqual(volume, { name, labels: { ...claimOf('dst-1'), ...ownerLabels(owner) } })
  assert.deepEqual(again, volume)
  await assert.rejects(claimVolume(engine, owner, name, claimOf('dst-2')), {
    code: 'volume_exists',
    message: `the volume ${name} already exists; its contents are left unchanged`,
    hint: `docker volume rm ${name} deletes it and its data; or choose another name`,
  })
  assert.deepEqual(await listVolumes(engine, owner), [volume])
})

test('an unclaimed volume, and a foreign volume with the same id, are not claimed', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const [plain, foreign] = [`${owner.prefix}-plain`, `${owner.prefix}-foreign`]
  const stranger = { ...owner, serverId: testOwner().serverId }
  await ensureVolume(engine, owner, plain)
  await claimVolume(engine, stranger, foreign, claimOf('dst-1'))

  for (const name of [plain, foreign]) {
    await assert.rejects(claimVolume(engine, owner, name, claimOf('dst-1')), { code: 'volume_exists' })
  }
})

test('a volume is removed only for the id that it was created for', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-datastore-shop-db`
  const foreign = { ...owner, serverId: testOwner().serverId }
  await claimVolume(engine, owner, name, claimOf('dst-1'))

  await removeVolume(engine, owner, name, 'dst-2')
  await removeVolume(engine, foreign, name, 'dst-1')
  assert.equal(await hasVolume(engine, name), true)

  await removeVolume(engine, owner, name, 'dst-1')
  await removeVolume(engine, owner, name, 'dst-1')
  assert.equal(await hasVolume(engine, name), false)
})
