import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { giveEmptyDisk } from '../../../src/docker/containers/disk-owner.ts'
import { ensureVolume, removeVolume } from '../../../src/docker/containers/volumes.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'

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
