import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureEdgeContainer } from '../../../src/docker/containers/edge-container.ts'
import { findOtherImage } from '../../../src/effects/edge/software.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { haproxyImage } from '../../support/docker/server-images.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('without a registry the next edge runs the image of the present one', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const image = await haproxyImage()
  const spec = { image, generation: 1, environment: {}, arguments: ['-v'], isForeignUser: false }
  const directory = temporaryDirectory(t)
  await ensureEdgeContainer(engine, owner, { ...spec, directory }, t.signal)

  assert.equal(await findOtherImage({ engine, owner }), image)
})
