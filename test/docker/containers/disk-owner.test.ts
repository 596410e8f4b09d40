import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveEmptyDisk } from '../../../src/docker/containers/disk-owner.ts'
import { ensureVolume, removeVolume } from '../../../src/docker/containers/volumes.ts'
import { openDockerSite, until } from '../../support/docker-site.ts'

test('an empty disk of root goes to the user of the image, a used one stays as it is', async (t) => {
  const { engine, owner, images, instances, spec } = await openDockerSite(t)
  const { docker } = engine
  const base = await docker.createContainer({
    Image: images.busybox,
    Cmd: [
      'sh',
      '-c',
      'echo root:x:0:0::/: > /etc/passwd; echo app:x:1234:2345::/: >> /etc/passwd; ' +
        'echo staff:x:50: > /etc/group; mkdir /own; ' +
        'dd if=/dev/zero of=/own/big bs=1M count=64; chown 7:7 /own',
    ],
  })
  await base.start()
  await base.wait()
  const { Id: image } = await base.commit({
    repo: `${owner.prefix}-user`,
    changes: ['USER app', 'CMD ["sleep","99"]'],
  })
  t.after(() => docker.getImage(image).remove({ force: true }))
  await base.remove()
  const ownerOf = async (user: string, mountPath = '/data') => {
    const volume = {
      name: `${owner.prefix}-${user.replace(':', '-')}${mountPath.replace('/', '-')}`,
      mountPath,
    }
    await ensureVolume(engine, owner, volume.name)
    await giveEmptyDisk({ engine, owner }, { image, user, volume, serviceId: 'svc-1' })
    const { name } = await instances.ensure(
      await spec({ image, volume, command: `stat -c %u:%g ${mountPath}; sleep 99` }),
    )
    try {
      return (await until('its line', async () => (await instances.tail(name, 1))[0])).line
    } finally {
      await instances.remove(name)
      await removeVolume(engine, owner, volume.name)
    }
  }

  assert.equal(await ownerOf('app'), '1234:2345')
  assert.equal(await ownerOf('app:staff'), '1234:50')
  assert.equal(await ownerOf('1000'), '1000:0')
  assert.equal(await ownerOf('1000:1001'), '1000:1001')
  assert.equal(await ownerOf('root'), '0:0')
  assert.equal(await ownerOf('unknown'), '0:0')
  // Docker copies what the image has at that path, with its owner.
  assert.equal(await ownerOf('app', '/own'), '7:7')
})
