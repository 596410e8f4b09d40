// Containers of datastores on a real engine, with a real Redis: made once, limited in place, and asked.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type DatastoreSpec, openDatastores } from '../../../src/docker/containers/datastores.ts'
import { claimVolume } from '../../../src/docker/containers/volumes.ts'
import { checkDatastore, type Datastore } from '../../../src/effects/datastore/access.ts'
import { kinds } from '../../../src/effects/datastore/kind.ts'
import { datastoreImages } from '../../support/docker/datastore-images.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'
import { long } from '../../support/system/drill-size.ts'

const credentials = { username: 'default', password: 'canary4f0d9a61b7', database: null }
const signal = new AbortController().signal

async function start(t: TestContext) {
  const site = await openDockerSite(t)
  const { engine, owner } = site
  const datastores = openDatastores(engine, owner)
  const { network, address, pidsLimit } = await site.spec()
  const host = 26_000 + Math.floor(Math.random() * 1000)
  const name = `${owner.prefix}-datastore-cache`
  const claim = { 'berth.kind': 'datastore', 'berth.id': 'dst-1', 'berth.service': 'cache' }
  await claimVolume(engine, owner, name, claim)
  const spec: DatastoreSpec = {
    id: 'dst-1',
    name: 'cache',
    volume: name,
    image: (await datastoreImages()).redis.replace('{version}', '7'),
    network,
    address,
    env: kinds.redis.env(credentials),
    script: kinds.redis.script,
    mountPath: kinds.redis.mountPath('7'),
    port: { inside: 6379, host: host!, bind: '127.0.0.1' },
    restart: 'no',
    memoryLimitMb: 64,
    cpuLimit: 0.5,
    pidsLimit,
  }
  const container = await datastores.ensure(spec)
  const datastore = { name, kind: kinds.redis, credentials } as Datastore
  const ask = () => checkDatastore({ datastores }, datastore, signal)
  await until('it to answer', async () => (await ask().catch(() => 'no')) === null)
  const { env = {} } = kinds.redis.healthCommand(credentials)
  const command = (...words: string[]) => datastores.run(name, { argv: ['redis-cli', ...words], env })
  return { ...site, datastores, name, spec, made: container, ask, command }
}

long('an existing container is adopted; one of another request is replaced and keeps its data', async (t) => {
  const { datastores, spec, made: container, command, ask } = await start(t)
  assert.equal((await command('set', 'word', 'kept')).stdout, 'OK\n')

  const again = await datastores.ensure({ ...spec, memoryLimitMb: 128, restart: 'unless-stopped' })
  assert.deepEqual(
    [again.containerId, again.pid, again.restart],
    [container.containerId, container.pid, 'unless-stopped'],
  )

  const other = await datastores.ensure({ ...spec, env: { ...spec.env, MORE: '1' } })
  assert.notEqual(other.containerId, container.containerId)
  await until('it to answer', async () => (await ask().catch(() => 'no')) === null)
  assert.equal((await command('get', 'word')).stdout, 'kept\n')
})

test('limits change in place while the process keeps running; a missing container is reported', async (t) => {
  const { datastores, instances, name, made: container } = await start(t)
  const wanted = { memoryLimitMb: 128, cpuLimit: 0.25, pidsLimit: 100 }

  assert.equal(await datastores.limit(name, wanted), true)

  const { pid, memoryLimitBytes, cpuLimit } = (await instances.inspect(name))!
  assert.deepEqual([pid, memoryLimitBytes, cpuLimit], [container.pid, 128 * 2 ** 20, 0.25])
  await assert.rejects(datastores.limit(name, { ...wanted, memoryLimitMb: 1 }), { code: 'docker_error' })
  await instances.stop(name, 0)
  assert.equal(await datastores.limit(name, { ...wanted, memoryLimitMb: 32 }), true)
  assert.equal((await instances.inspect(name))!.memoryLimitBytes, 32 * 2 ** 20)
  await instances.remove(name)
  assert.equal(await datastores.limit(name, wanted), false)
})

test('a hanging server is reported as silent, and no probe remains in its container', async (t) => {
  const { engine, name, command, ask } = await start(t)
  await command('client', 'pause', '60000', 'all')

  assert.equal(await ask(), 'it accepts connections and sends nothing')

  const { Processes } = await engine.docker.getContainer(name).top()
  assert.ok(!JSON.stringify(Processes).includes('redis-cli'), JSON.stringify(Processes))
})

test('the password is in no argument and no label, only in the data of the server', async (t) => {
  const { engine, name } = await start(t)
  const container = engine.docker.getContainer(name)
  const { Config, Args, HostConfig } = await container.inspect()
  const { Env, ...shown } = Config
  const reported = [shown, Args, HostConfig, (await container.top()).Processes]
  assert.ok(Env.some((one) => one.includes(credentials.password)))
  assert.ok(!JSON.stringify(reported).includes(credentials.password))
})
