import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Engine } from '../../../src/docker/engine/client.ts'
import { imageName } from '../../../src/docker/engine/names.ts'
import { inspectImage, tagImage } from '../../../src/docker/images/images.ts'
import { pullImage, removePulledName, resolveDigest } from '../../../src/docker/images/pull.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { account, startRegistry } from '../../support/docker/registry.ts'

const ids = createIds()
const forever = new AbortController().signal

test('a tag is resolved to its digest and pulled by it, with a log line of each', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, push } = await startRegistry(t)
  const pushed = await push('team/app:v1', 'one', ['EXPOSE 8080'])
  const lines: string[] = []

  const digest = await resolve(engine, `${host}/team/app:v1`)
  const name = `${host}/team/app@${digest}`
  const { imageId } = await pull(engine, name, lines)

  assert.equal(digest, pushed)
  const image = await inspectImage(engine, name)
  assert.deepEqual([image?.id, image?.exposedPorts], [imageId, [8080]])
  assert.equal(await inspectImage(engine, `${host}/team/app:v1`), null, 'no tag is made or moved')
  assert.deepEqual(lines, ['pulled 1 layer, 1 was already present'])
})

test('a private registry serves its images only with its credentials', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, push } = await startRegistry(t, { isPrivate: true })
  const digest = await push('app:v1', 'one')
  const reference = `${host}/app:v1`
  const name = `${host}/app@${digest}`
  const wrong = { username: 'ada', password: 'canary-wrong-1' }

  for (const credentials of [null, wrong]) {
    const reason = credentials ? 'rejected the stored credentials' : 'has no such image, or requires'
    const expected = { code: 'registry_unauthorized', message: new RegExp(`${host} ${reason}`) }
    await assert.rejects(resolveDigest(engine, { reference, credentials, signal: forever }), expected)
    const requested = { reference: name, credentials, onLine: () => {}, signal: forever }
    await assert.rejects(pullImage(engine, requested), { code: 'registry_unauthorized' })
  }
  assert.equal(await inspectImage(engine, name), null)

  const options = { credentials: account, signal: forever }
  assert.equal(await resolveDigest(engine, { ...options, reference }), digest)
  const { imageId } = await pullImage(engine, { ...options, reference: name, onLine: () => {} })
  assert.equal((await inspectImage(engine, name))?.id, imageId)
})

test('a missing tag, name or digest is not found', async (t) => {
  const { engine } = await openDockerSite(t)
  const { host, push } = await startRegistry(t)
  await push('app:v1', 'one')
  const missing = { code: 'image_not_found', message: new RegExp(`: ${host} has no such image$`) }

  await assert.rejects(resolve(engine, `${host}/app:v2`), missing)
  await assert.rejects(resolve(engine, `${host}/not-found:v1`), missing)
  await assert.rejects(pull(engine, `${host}/app@sha256:${'0'.repeat(64)}`), missing)
})

test('a stopped registry does not respond, and responds again when it is back', async (t) => {
  const { engine } = await openDockerSite(t)
  const registry = await startRegistry(t)
  const digest = await registry.push('denied/app:v1', 'one')
  const reference = `${registry.host}/denied/app:v1`

  await registry.stop()
  const away = { code: 'registry_unreachable', message: /does not respond \(.*connection refused\)$/ }
  await assert.rejects(resolve(engine, reference), away)
  await assert.rejects(pull(engine, `${registry.host}/denied/app@${digest}`), away)

  await registry.start()
  assert.equal(await resolve(engine, reference), digest)
})

test('an error message of a registry becomes the reason', async (t) => {
  const { engine } = await openDockerSite(t)
  const responses: [status: number, code: string, text: string][] = [
    [429, 'TOOMANYREQUESTS', 'registry_rate_limited'],
    [503, 'UNAVAILABLE', 'registry_unreachable'],
    [403, 'DENIED', 'registry_unauthorized'],
    [404, 'NAME_UNKNOWN', 'image_not_found'],
  ]
  for (const [status, word, code] of responses) {
    const reference = `${await startRefusingRegistry(t, status, word)}/app:v1`
    await assert.rejects(resolve(engine, reference), { code }, `${status}`)
    await assert.rejects(pull(engine, reference), { code }, `${status}`)
  }
})

test('the temporary name of a pull is removed, and the image stays while it has another', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const { host, push } = await startRegistry(t)
  const name = `${host}/app@${await push('app:v1', 'one')}`
  const ours = imageName(owner, 'web', ids.newId('dep'))
  const { imageId } = await pull(engine, name)
  await tagImage(engine, owner, name, ours)

  await removePulledName(engine, name)
  await removePulledName(engine, name)

  const info = await engine.docker.getImage(ours).inspect()
  assert.deepEqual([info.Id, info.RepoTags, info.RepoDigests], [imageId, [ours], []])
  await pull(engine, name)
  await engine.docker.getImage(ours).remove()
  await removePulledName(engine, name)
  assert.equal(await inspectImage(engine, imageId), null, 'the last name takes the image along')
  await assert.rejects(removePulledName(engine, `${host}/app:v1`), { code: 'docker_error' })
})

function resolve(
  engine: Engine,
  reference: string,
  _lines: string[] = [],
  signal = forever,
): Promise<string> {
  return resolveDigest(engine, { reference, credentials: null, signal })
}

function pull(engine: Engine, reference: string, lines: string[] = [], signal = forever) {
  return pullImage(engine, { reference, credentials: null, onLine: (line) => lines.push(line), signal })
}

/** Identifies as a registry, then refuses every request with `code`, a registry error code. */
async function startRefusingRegistry(t: TestContext, status: number, code: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url === '/v2/') return void response.end('{}')
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ errors: [{ code, message: 'no' }] }))
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
