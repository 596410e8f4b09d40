import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { giveEmptyDisk } from '../../../src/docker/containers/disk-owner.ts'
import {
  claimVolume,
  ensureVolume,
  hasVolume,
  listVolumes,
  removeVolume,
} from '../../../src/docker/containers/volumes.ts'
import { ownerLabels } from '../../../src/docker/engine/names.ts'
import { type DockerSite, openDockerSite, testOwner, until } from '../../support/docker/docker-site.ts'

test('a volume is created once with its labels, listed, and removed once', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = `${owner.prefix}-disk`

  const first = await ensureVolume(engine, owner, name, { 'berth.service': 'web' })
  const again = await ensureVolume(engine, owner, name, { 'berth.service': 'other' })

  const volume = { name, labels: { 'berth.service': 'web', ...ownerLabels(owner) } }
  const { createdAt, ...told } = first
  assert.ok(Math.abs(Date.parse(createdAt!) - Date.now()) < 24 * 60 * 60 * 1000, String(createdAt))
  assert.deepEqual(told, { ...volume, isNew: true })
  assert.deepEqual(again, { ...volume, createdAt, isNew: false })
  assert.deepEqual(await listVolumes(engine, owner), [{ ...volume, createdAt }])
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

  const labels = { ...claimOf('dst-1'), ...ownerLabels(owner) }
  assert.deepEqual(volume, { name, createdAt: volume.createdAt, labels })
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

test('an empty disk of root goes to the user of the image, a used one stays as it is', async (t) => {
  const site = await openDockerSite(t)
  const image = await imageWithUsers(
    t,
    site,
    'echo root:x:0:0::/: > /etc/passwd; echo app:x:1234:2345::/: >> /etc/passwd; ' +
      'echo staff:x:50: > /etc/group; mkdir /own; ' +
      'dd if=/dev/zero of=/own/big bs=1M count=64; chown 7:7 /own',
  )
  const ownerOf = (user: string, mountPath?: string) => ownerOfDisk(site, image, user, mountPath)

  assert.equal(await ownerOf('app'), '1234:2345')
  assert.equal(await ownerOf('app:staff'), '1234:50')
  assert.equal(await ownerOf('1000'), '1000:0')
  assert.equal(await ownerOf('1000:1001'), '1000:1001')
  assert.equal(await ownerOf('root'), '0:0')
  assert.equal(await ownerOf('unknown'), '0:0')
  // Docker copies what the image has at that path, with its owner.
  assert.equal(await ownerOf('app', '/own'), '7:7')
})

test('users and groups are found in files that are links', async (t) => {
  const site = await openDockerSite(t)
  const image = await imageWithUsers(
    t,
    site,
    'mkdir -p /store/etc; echo app:x:1234:2345::/: > /store/etc/passwd; ' +
      'echo staff:x:50: > /store/etc/group; rm -f /etc/passwd /etc/group; ' +
      'ln -s ../store/etc/passwd-1 /etc/passwd; ln -s passwd /store/etc/passwd-1; ' +
      'ln -s /store/etc/group /etc/group',
  )

  assert.equal(await ownerOfDisk(site, image, 'app:staff'), '1234:50')
})

async function imageWithUsers(t: TestContext, { engine, owner, images }: DockerSite, script: string) {
  const { docker } = engine
  const base = await docker.createContainer({ Image: images.busybox, Cmd: ['sh', '-c', script] })
  t.after(() => base.remove({ force: true }).catch(() => undefined))
  await base.start()
  await base.wait()
  const { Id: image } = await base.commit({
    repo: `${owner.prefix}-user`,
    changes: ['USER app', 'CMD ["sleep","99"]'],
  })
  t.after(() => docker.getImage(image).remove({ force: true }))
  await base.remove()
  return image
}

async function ownerOfDisk(site: DockerSite, image: string, user: string, mountPath = '/data') {
  const { engine, owner, instances, spec } = site
  const name = `${owner.prefix}-${user.replace(':', '-')}${mountPath.replace('/', '-')}`
  const volume = { name, mountPath }
  await ensureVolume(engine, owner, volume.name)
  await giveEmptyDisk({ engine, owner }, { image, user, volume, serviceId: 'svc-1' })
  const command = `stat -c %u:%g ${mountPath}; sleep 99`
  const instance = await instances.ensure(await spec({ image, volume, command }))
  try {
    return (await until('its line', async () => (await instances.tail(instance.name, 1))[0])).line
  } finally {
    await instances.remove(instance.name)
    await removeVolume(engine, owner, volume.name)
  }
}
