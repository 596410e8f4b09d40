// Live instances that exit or disappear, and services that are suspended and removed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Docker from 'dockerode'
import type { Api, Body } from '../support/daemon/api.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fetchPage, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'

const suite = daemonSuite()
const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })

async function listInstances(api: Api, name: string): Promise<Body[]> {
  return (await api.get(`/services/${name}/status`)).instances
}

async function running(api: Api, name: string, count: number): Promise<Body[]> {
  return until(`${count} instances of ${name}`, async () => {
    const found = await listInstances(api, name)
    const isRunning = found.every(({ state }: Body) => state === 'running')
    return found.length === count && isRunning && found
  })
}

const stateOf = async (api: Api, name: string) => (await api.get(`/services/${name}`)).state

test('a killed instance and a removed one are back at their address', async (t) => {
  const { api } = suite
  const { name } = await createService(t, api, await pageApp('page'))
  const [before] = await running(api, name, 1)
  await docker.getContainer(before.container_id).kill()
  await until('the page', async () => (await fetchPage(api, name)) === 'page')
  await docker.getContainer(before.container_id).remove({ force: true })
  const [after] = await until('another container', async () => {
    const found = await running(api, name, 1)
    return found[0].container_id !== before.container_id && found
  })
  assert.equal(after.address, before.address)
  await until('it to be live', async () => (await stateOf(api, name)) === 'live')
})

test('a suspended service has no instance, refuses deploys, and resumes unchanged', async (t) => {
  const { api } = suite
  const { name, first } = await createService(t, api, await pageApp('page'))
  await api.post(`/services/${name}/suspend`)
  assert.equal(await stateOf(api, name), 'suspended')
  await running(api, name, 0)
  assert.equal((await api.call('POST', `/services/${name}/deploys`)).body.code, 'conflict')
  await api.post(`/services/${name}/resume`)
  await running(api, name, 1)
  await until('the page', async () => (await fetchPage(api, name)) === 'page')
  assert.equal((await api.get(`/services/${name}`)).live_deploy_id, first.id)
})

test('deleting a service deletes everything of it; one in use is refused', async (t) => {
  const { api, daemon } = suite
  const { name, first, id } = await createService(t, api, await pageApp('page'))
  const env = [{ key: 'A', value: `\${{service.${name}.host}}` }]
  const other = await createService(t, api, await pageApp('other'), { env })
  const refused = await api.call('DELETE', `/services/${name}`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'in_use'])
  assert.equal(refused.body.errors[0].path, `${other.name}.A`)
  assert.equal(
    (await api.call('DELETE', `/services/${name}?force=true&delete_disk=true&purge=true`)).status,
    204,
  )
  await until('its end', async () => (await api.call('GET', `/services/${id}`)).status === 404)
  assert.equal((await api.call('GET', `/deploys/${first.id}`)).status, 404)
  const left = Object.values(await findLeftovers(daemon.prefix)).flat() as string[]
  assert.deepEqual(
    left.filter((object) => object.includes(name) || object.includes(id)),
    [],
  )
  const again = await api.post('/services', { name, type: 'web_service' })
  assert.equal(again.state, 'not_deployed')
})
