import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageName } from '../../../src/docker/engine/names.ts'
import { inspectImage, listImages, removeImage, tagImage } from '../../../src/docker/images/images.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'

const ids = createIds()

test('an image is tagged with our name, listed by it, and loses only that name', async (t) => {
  const { engine, owner, images } = await openDockerSite(t)
  const [one, two] = [ids.newId('dep'), ids.newId('dep')]
  const web = imageName(owner, 'web', one)
  const api = imageName(owner, 'api', two)
  await engine.docker.getImage(images.busybox).tag({ repo: `${owner.prefix}/web`, tag: 'latest' })

  await tagImage(engine, owner, images.busybox, web)
  await tagImage(engine, owner, images.busybox, api)

  const listed = (await listImages(engine, owner)).map(({ name, service, deployId }) => [
    name,
    service,
    deployId,
  ])
  assert.deepEqual(listed.sort(), [
    [api, 'api', two],
    [web, 'web', one],
  ])
  assert.deepEqual(
    (await listImages(engine, owner, 'web')).map(({ name }) => name),
    [web],
  )
  await removeImage(engine, owner, web)
  await removeImage(engine, owner, web)
  assert.deepEqual(
    (await listImages(engine, owner)).map(({ name }) => name),
    [api],
  )
  assert.ok(await inspectImage(engine, images.busybox))
})

test('an image has an id, a size and the TCP ports it exposes', async (t) => {
  const { engine, owner, images } = await openDockerSite(t)
  const { id } = await engine.docker.createContainer({
    Image: images.busybox,
    Labels: { 'berth.instance': owner.prefix },
  })
  const name = imageName(owner, 'web', 'dep-one')
  const [repo, tag] = name.split(':')
  const changes = ['EXPOSE 8080', 'EXPOSE 53/udp', 'EXPOSE 443/tcp']
  await engine.docker.getContainer(id).commit({ repo, tag, changes })

  const image = await inspectImage(engine, name)

  assert.deepEqual(image?.exposedPorts, [443, 8080])
  assert.match(image.id, /^sha256:[0-9a-f]{64}$/)
  assert.ok(image.sizeBytes > 100_000)

  const labels = Array.from({ length: 1001 }, (_, index) => `LABEL a${index}=`)
  await engine.docker.getContainer(id).commit({ repo, tag, changes: labels })
  await assert.rejects(inspectImage(engine, name), {
    code: 'source_invalid',
    message: /more than 1000 labels/,
  })
})

test('a foreign name is neither added nor removed', async (t) => {
  const { engine, owner, images } = await openDockerSite(t)

  for (const name of [images.busybox, 'node:20', `${owner.prefix}x/web:dep-one`, `${owner.prefix}/web`]) {
    await assert.rejects(removeImage(engine, owner, name), {
      code: 'docker_error',
      message: /does not belong to this server/,
    })
    await assert.rejects(tagImage(engine, owner, images.busybox, name), { code: 'docker_error' })
  }
})
