import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureEdgeContainer } from '../../../src/docker/containers/edge-container.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'
import { haproxyImage } from '../../support/docker/server-images.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('an edge that exited reports how, although its log is removed with it', async (t) => {
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
  const end = await until('it to have ended', ensure)
  assert.equal(end?.exitCode, 1)
  assert.equal(end.isOutOfMemory, false)
  assert.match(end.output, /nowhere\.cfg/)
})
