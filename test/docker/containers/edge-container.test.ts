// The edge container: it is started again after its end, and never replaced while it may serve.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeName, ensureEdgeContainer } from '../../../src/docker/containers/edge-container.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'
import { haproxyImage } from '../../support/docker/server-images.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('an edge that ended reports how, and the same container is started again', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const signal = new AbortController().signal
  const spec = {
    image: await haproxyImage(),
    generation: 1,
    environment: {},
    directory: temporaryDirectory(t),
    arguments: ['-f', '/nowhere.cfg'],
    isForeignUser: false,
  }
  const ensure = () => ensureEdgeContainer(engine, owner, spec, signal)
  assert.equal(await ensure(), null)
  const container = engine.docker.getContainer(edgeName(owner, 1))
  const { Id } = await container.inspect()
  const end = await until('it to have ended', ensure)
  assert.equal(end?.exitCode, 1)
  assert.equal(end.isOutOfMemory, false)
  assert.match(end.output, /nowhere\.cfg/)
  assert.equal((await container.inspect()).Id, Id)
})
