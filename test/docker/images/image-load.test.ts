import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createImageArchive } from '../../../src/base-images/image-archive.ts'
import { createRootFilesystem } from '../../../src/base-images/root-filesystem.ts'
import { imageName } from '../../../src/docker/engine/names.ts'
import { loadImage } from '../../../src/docker/images/image-load.ts'
import { inspectImage } from '../../../src/docker/images/images.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'

test('an archive becomes an image with the name in it, and loading it again changes nothing', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const name = imageName(owner, 'web', 'dep-one')
  const settings = { Env: [], Cmd: [], Labels: {}, ExposedPorts: { '8080/tcp': {} } }
  const archive = await createImageArchive(name, await createRootFilesystem().toTar(), settings)

  await loadImage(engine, archive, undefined)
  const first = await inspectImage(engine, name)
  await loadImage(engine, archive, undefined)

  assert.deepEqual([first?.exposedPorts, first?.workingDir], [[8080], '/'])
  assert.deepEqual(await inspectImage(engine, name), first)
})

test('an archive that is not an image is refused with Docker’s message', async (t) => {
  const { engine } = await openDockerSite(t)

  await assert.rejects(loadImage(engine, Buffer.from('nonsense'), undefined), { code: 'docker_error' })
})

test('an image is not loaded after an abort', async (t) => {
  const { engine } = await openDockerSite(t)
  const reason = new Error('canceled')

  await assert.rejects(loadImage(engine, Buffer.alloc(0), AbortSignal.abort(reason)), reason)
})
