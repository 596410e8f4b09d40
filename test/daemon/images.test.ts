// Services from an image, end to end with a real registry and a real engine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMac } from '../../src/docker/engine/names.ts'
import type { Body } from '../support/daemon/api.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fetchPage, finishedDeploy, logLines, until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { account, startRegistry } from '../support/docker/registry.ts'
import { filesWith } from '../support/storage/canary.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()
let count = 0

/** Creates a service from an image; returns its first deploy, finished. */
async function createService(image: string, settings: object = {}): Promise<{ name: string; first: Body }> {
  const name = `image-${process.pid}-${++count}`
  const service = await suite.api.post('/services', { name, image, drain_seconds: 0, ...settings })
  return { name, first: await finishedDeploy(suite.api, service.latest_deploy.id) }
}

async function deploy(name: string): Promise<Body> {
  const requested = await suite.api.post(`/services/${name}/deploys`)
  return finishedDeploy(suite.api, requested.id)
}

/** The log of a failed deploy after its cleanup; checks that nothing is left. */
async function logOfFailure({ id, status, phase }: Body): Promise<string[]> {
  assert.deepEqual([status, phase], ['failed', 'pulling'])
  const { api, daemon } = suite
  await until('the cleanup', async () => (await api.get(`/deploys/${id}/history`)).at(-1).state === 'failed')
  const { images } = await findLeftovers(daemon.prefix)
  assert.deepEqual(
    images.filter((name) => name.includes(id)),
    [],
  )
  return logLines(api, id)
}

test('an image is pulled, tagged with our name, and serves on its exposed port', async (t) => {
  const { api, daemon } = suite
  const { host, push, namesOnEngine } = await startRegistry(t)
  const digest = await push('team/app:v1', 'one', ['EXPOSE 8080'])

  const { name, first } = await createService(`${host}/team/app:v1`)

  assert.equal(first.status, 'live', first.error)
  assert.equal(await fetchPage(api, name), 'one')
  assert.deepEqual([first.port, withoutMac(first.image)], [8080, `${daemon.prefix}/${name}:${first.id}`])
  assert.deepEqual(first.source, {
    kind: 'image',
    image: `${host}/team/app:v1@${digest}`,
    repo_url: null,
    branch: null,
    commit: null,
    deploy_id: null,
  })
  assert.equal((await api.get(`/services/${name}`)).image, `${host}/team/app:v1`)
  const log = await logLines(api, first.id)
  assert.ok(log.includes(`pulling ${host}/team/app:v1`), log.join('\n'))
  assert.ok(log.includes(`${host}/team/app:v1 is ${digest}`), log.join('\n'))
  assert.deepEqual(await namesOnEngine(), [], 'the name of the pull is gone')
})

test('a moved tag deploys its current image, and a digest always the same one', async (t) => {
  const { api } = suite
  const { host, push } = await startRegistry(t)
  const old = await push('app:v1', 'one')
  const moving = await createService(`${host}/app:v1`)
  const pinned = await createService(`${host}/app@${old}`)

  const digest = await push('app:v1', 'two')
  const [moved, same] = await Promise.all([deploy(moving.name), deploy(pinned.name)])

  assert.deepEqual([moved.status, same.status], ['live', 'live'])
  assert.deepEqual([await fetchPage(api, moving.name), await fetchPage(api, pinned.name)], ['two', 'one'])
  assert.deepEqual(
    [moved.source.image, same.source.image],
    [`${host}/app:v1@${digest}`, `${host}/app@${old}`],
  )
  assert.ok((await logLines(api, same.id)).includes('it is already present'))
})

long('a private image needs the credentials of its registry, which are never shown', async (t) => {
  const { api, daemon } = suite
  const { host, push } = await startRegistry(t, { isPrivate: true })
  await push('app:v1', 'private page')

  const { name, first } = await createService(`${host}/app:v1`)
  await logOfFailure(first)
  assert.match(first.error, new RegExp(`requires credentials; berth registries add ${host} stores them`))

  const wrong = { username: account.username, password: 'canary-wrong-pass' }
  assert.equal((await api.call('PUT', `/registries/${host}`, wrong)).status, 200)
  const refused = await deploy(name)
  await logOfFailure(refused)
  assert.match(refused.error, /rejected the stored credentials/)

  assert.equal((await api.call('PUT', `/registries/${host}`, account)).status, 200)
  const allowed = await deploy(name)
  assert.equal(allowed.status, 'live', allowed.error)
  assert.equal(await fetchPage(api, name), 'private page')

  const logs = await Promise.all([first, refused, allowed].map(({ id }) => logLines(api, id)))
  const label = JSON.stringify([first, refused, allowed, logs, await api.get('/registries'), daemon.log])
  assert.doesNotMatch(label, /canary-/)
  for (const secret of [account.password, wrong.password]) {
    assert.deepEqual(filesWith(daemon.dataDir, secret), [])
  }
})

long('while the registry is down the local image is used, with a log line', async (t) => {
  const { api } = suite
  const registry = await startRegistry(t)
  const { host } = registry
  const digest = await registry.push('app:v1', 'one')
  const unknown = await registry.push('app:v2', 'other')
  const { name } = await createService(`${host}/app:v1`)
  await registry.stop()

  const again = await deploy(name)

  assert.equal(again.status, 'live', again.error)
  assert.equal(await fetchPage(api, name), 'one')
  assert.equal(again.source.image, `${host}/app:v1@${digest}`)
  const log = await logLines(api, again.id)
  assert.ok(
    log.some((line) => /does not respond \(.*connection refused\)$/.test(line)),
    log.join('\n'),
  )
  assert.ok(log.includes(`using the image on this host: ${host}/app:v1@${digest}`), log.join('\n'))

  await api.call('PATCH', `/services/${name}`, { image: `${host}/app:v1@${unknown}` })
  const pinned = await deploy(name)
  assert.match(pinned.error, / does not respond /, 'another digest is another image')
  const other = await createService(`${host}/app:v2`)
  assert.match(other.first.error, new RegExp(`^cannot pull ${host}/app:v2: ${host} does not respond`))
  await logOfFailure(other.first)
})

test('an image that exists only on this host is deployed by its name, and keeps it', async (t) => {
  const { api } = suite
  const { host, push, pull, stop, namesOnEngine } = await startRegistry(t)
  await push('app:dev', 'made here')
  await pull('app:dev')
  await stop()
  const names = await namesOnEngine()

  const { name, first } = await createService(`${host}/app:dev`)

  assert.equal(first.status, 'live', first.error)
  assert.equal(await fetchPage(api, name), 'made here')
  assert.equal(first.source.image, `${host}/app:dev`)
  assert.deepEqual(await namesOnEngine(), names)
})
