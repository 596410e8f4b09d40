// An image that is named by its digest: pulled and verified, or replaced when no registry answers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasOfficialImage } from '../../src/base-images/official-image.ts'
import { inspectImage } from '../../src/docker/images/images.ts'
import { removePulledName } from '../../src/docker/images/pull.ts'
import { openDockerSite } from '../support/docker/docker-site.ts'
import { startSilentRegistry } from '../support/docker/faulty-registries.ts'
import { startRegistry } from '../support/docker/registry.ts'

const { signal } = new AbortController()

test('an image is pulled by its digest, and another digest is rejected', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, push } = await startRegistry(t)
  const name = `${host}/haproxy@${await push('haproxy:3', 'one')}`
  t.after(() => removePulledName(engine, name))

  assert.equal(await hasOfficialImage(engine, name, signal), true)
  assert.ok(await inspectImage(engine, name))
  const other = `${host}/haproxy@sha256:${'0'.repeat(64)}`
  assert.equal(await hasOfficialImage(engine, other, signal), false)
})

test('a registry that does not respond is abandoned soon, and not retried immediately', async (t) => {
  const { engine } = await openDockerSite(t)
  const silence = await startSilentRegistry(t)
  const name = `${silence.host}/haproxy@sha256:${'1'.repeat(64)}`

  const times: number[] = []
  for (const _ of [1, 2]) {
    const since = performance.now()
    assert.equal(await hasOfficialImage(engine, name, signal), false)
    times.push(performance.now() - since)
  }
  const [first, second] = times
  assert.ok(second! < first! / 5, `${first} ms, then ${second} ms`)
})
