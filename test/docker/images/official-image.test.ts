// An image is pulled by its digest, or replaced by one on this host.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findNewestImage,
  type OfficialImage,
  obtainOfficialImage,
} from '../../../src/docker/images/official-image.ts'
import { removePulledName } from '../../../src/docker/images/pull.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { startRegistry } from '../../support/docker/registry.ts'

const { signal } = new AbortController()

function wantedImage(reference: string, findOther: OfficialImage['findOther'] = async () => null) {
  const others: { image: string; reason: string }[] = []
  const onOther = (facts: { image: string; reason: string }) => void others.push(facts)
  const wanted = { reference, findOther, onOther, missingCode: 'edge_image_missing', option: '--edge-image' }
  return { wanted, others }
}

test('a digest is pulled as it is, and a tag as the digest that it has now', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, push } = await startRegistry(t)
  const byDigest = `${host}/haproxy@${await push('haproxy:3', 'one')}`
  const obtain = (reference: string) => obtainOfficialImage(engine, wantedImage(reference).wanted, signal)
  t.after(() => removePulledName(engine, byDigest))

  assert.equal(await obtain(byDigest), byDigest)
  assert.equal(await obtain(`${host}/haproxy:3`), byDigest)
  const next = `${host}/haproxy@${await push('haproxy:3', 'two')}`
  t.after(() => removePulledName(engine, next))
  assert.equal(await obtain(`${host}/haproxy:3`), next)
  await assert.rejects(obtain(`${host}/haproxy@sha256:${'0'.repeat(64)}`), { code: 'edge_image_missing' })
})

test('if the registry cannot be reached, the newest image of the repository is used', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, push, pull, stop } = await startRegistry(t)
  await push('nginx:1', 'one')
  await pull('nginx:1')
  await stop()
  const repository = `${host}/nginx`
  const other = wantedImage(`${repository}:2`, () => findNewestImage(engine, [`${host}/none`, repository]))
  const none = wantedImage(`${host}/none:2`, () => findNewestImage(engine, [`${host}/none`]))

  assert.equal(await obtainOfficialImage(engine, other.wanted, signal), `${repository}:1`)
  assert.equal(other.others.length, 1)
  assert.match(other.others[0]!.reason, /cannot pull/)
  await assert.rejects(obtainOfficialImage(engine, none.wanted, signal), {
    code: 'edge_image_missing',
    message: /^cannot pull .*\(--edge-image names another image to use\)$/,
  })
})
