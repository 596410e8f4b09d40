// What an application can reach on the private network: itself, services that its env refers
// to, shared services.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { tableOf } from '../../src/firewall/rules.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { finishedJob, openDocker, output, requestJob, runIn } from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { run } from '../support/system/command.ts'
import { long } from '../support/system/drill-size.ts'
import { listRules, whyNoFirewall } from '../support/system/firewall.ts'

const skip = (await whyNoFirewall()) ?? false
const scope = fileScope()
const docker = await openDocker()
const hostServer = createServer((_, response) => void response.end('of the host'))
hostServer.listen(0, '0.0.0.0')
await once(hostServer, 'listening')
scope.after(() => void hostServer.close())
const closedServer = createServer((_, response) => void response.end('of the host'))
closedServer.listen(0, '0.0.0.0')
await once(closedServer, 'listening')
scope.after(() => void closedServer.close())
const portOf = (server: typeof hostServer) => (server.address() as AddressInfo).port
const site = skip ? null! : await openDatastoreSite(scope, { args: [`--host-ports=${portOf(hostServer)}`] })

/** A page at port 3000, and `wget` for requests to others. */
const aPage = async (text: string, settings: object = {}) =>
  createService(scope, site.api, await pageApp(text), { type: 'private_service', ...settings })

/** The first container of the live deploy; an old version may still be draining. */
async function liveInstance(name: string): Promise<string> {
  const { live_deploy_id } = await site.api.get(`/services/${name}`)
  const { instances } = await site.api.get(`/services/${name}/status`)
  type Shown = { deploy_id: string; container_id: string }
  return instances.find(({ deploy_id }: Shown) => deploy_id === live_deploy_id).container_id
}

/** The response that the service's live instance receives; null without a connection. */
async function ask(from: string, address: string): Promise<string | null> {
  const script = `wget -q -O - http://${address} 2>/dev/null || echo refused`
  const response = (await runIn(docker, await liveInstance(from), 'sh', '-c', script)).trim()
  return response === 'refused' ? null : response
}

/** Whether a TCP connection can be established. */
async function connects(from: string, host: string, port: number): Promise<boolean> {
  const script = `nc -w 5 ${host} ${port} </dev/null >/dev/null 2>&1 && echo yes || echo no`
  return (await runIn(docker, await liveInstance(from), 'sh', '-c', script)).trim() === 'yes'
}

async function refer(from: string, env: { key: string; value: string }[]): Promise<void> {
  await site.api.call('PUT', `/services/${from}/env`, { vars: env })
  const { id } = await site.api.post(`/services/${from}/restart`)
  assert.equal((await finishedDeploy(site.api, id)).status, 'live')
}

test('a service reaches another one by name once its env refers to it', { skip }, async () => {
  const [client, server] = [await aPage('client'), await aPage('server')]
  const address = `${server.name}:3000`

  const before = await ask(client.name, address)
  await refer(client.name, [{ key: 'SERVER', value: `\${{service.${server.name}.internalUrl}}` }])
  const after = await ask(client.name, address)
  const back = await ask(server.name, `${client.name}:3000`)
  await refer(client.name, [])
  const removed = await ask(client.name, address)

  assert.deepEqual([before, after, back, removed], [null, 'server', null, null])
})

long('a shared service becomes reachable for all services immediately', { skip }, async () => {
  const [client, server] = [await aPage('client'), await aPage('shared', { shared_network: true })]
  const address = `${server.name}:3000`
  const share = (shared_network: boolean) => site.api.patch(`/services/${server.name}`, { shared_network })

  assert.equal(await ask(client.name, address), 'shared')
  assert.equal((await share(false)).shared_network, false)
  await until('it to be closed', async () => (await ask(client.name, address)) === null)
  await share(true)
  await until('it to be open', async () => (await ask(client.name, address)) === 'shared')
})

test('a datastore is reachable by the services that refer to it, and by all when shared', {
  skip,
}, async () => {
  const cache = await site.create({ kind: 'redis', name: 'cache' })
  const [client, stranger] = [await aPage('client'), await aPage('stranger')]
  const reaches = ({ name }: { name: string }) => connects(name, cache.name, 6379)

  assert.deepEqual([await reaches(client), await reaches(stranger)], [false, false])
  assert.equal(await site.redis(cache.external_url, 'PING'), 'PONG')
  const value = '${{datastore.cache.connectionString}}'
  await refer(client.name, [{ key: 'CACHE', value }])
  assert.deepEqual([await reaches(client), await reaches(stranger)], [true, false])
  const shared = await site.api.patch(`/datastores/${cache.name}`, { shared_network: true })
  assert.equal(shared.shared_network, true)
  await until('it to be open', () => reaches(stranger))
})

long(
  'a job run and a pre-deploy command have the network access of their service, and no more',
  {
    skip,
  },
  async () => {
    const [server, other] = [await aPage('server'), await aPage('other')]
    const look = ({ name }: { name: string }) =>
      `wget -q -O - http://${name}:3000 2>/dev/null || echo refused; echo`
    const command = [look(server), look(other)].join('\n')
    const client = await aPage('client', {
      env: [{ key: 'HOST', value: `\${{service.${server.name}.host}}` }],
      pre_deploy_command: command,
    })

    const { id } = await requestJob(site.api, client.name, { command: `${command}\n${look(client)}` })
    await finishedJob(site.api, id)

    const lines = (await output(site.api, id)).filter((line) => line !== '')
    assert.deepEqual(lines, ['server', 'refused', 'client'])
    const log = (await site.api.get(`/deploys/${client.first.id}/logs`)) as unknown
    assert.ok(JSON.stringify(log).includes('server'), JSON.stringify(log))
  },
)

test('on the host only the allowed ports are reachable', { skip }, async () => {
  const { name } = await aPage('client')
  const { IPAM } = await docker.getNetwork(site.daemon.prefix).inspect()
  const gateway = IPAM!.Config![0]!.Gateway

  assert.equal(await ask(name, `${gateway}:${portOf(hostServer)}`), 'of the host')
  assert.equal(await ask(name, `${gateway}:${portOf(closedServer)}`), null)
})

long('deleted firewall rules are restored, and a restart keeps them', { skip }, async () => {
  const [client, server] = [await aPage('client'), await aPage('server')]
  const { prefix } = site.daemon
  const isClosed = async () => (await ask(client.name, `${server.name}:3000`)) === null
  assert.ok(await isClosed())

  await run('nft', ['delete', 'table', 'inet', tableOf(prefix)])
  await until('the rules to be there again', async () => (await listRules(prefix)) !== null)
  assert.ok(await isClosed())
  await run('nft', ['flush', 'chain', 'inet', tableOf(prefix), 'between_containers'])
  await until('the rules to be whole again', isClosed)
  await site.daemon.kill()
  assert.ok((await listRules(prefix))!.includes('between_containers'))
  await site.daemon.start()
  await until('the API to know', async () => (await site.api.get('/info')).network_isolation.enforced)
  assert.ok(await isClosed())
})

test('connections stay open while rules are replaced', { skip }, async () => {
  const server = await aPage('server')
  const client = await aPage('client', {
    env: [{ key: 'HOST', value: `\${{service.${server.name}.host}}` }],
  })
  const [from, to] = [await liveInstance(client.name), await liveInstance(server.name)]
  const serve = 'i=0; while [ $i -lt 32 ]; do i=$((i+1)); echo $i; sleep 0.25; done | nc -l -p 7000'
  const served = runIn(docker, to, 'sh', '-c', serve)
  const read = runIn(docker, from, 'sh', '-c', `sleep 1; sleep 15 | nc ${server.name} 7000 | tail -n 1`)
  for (const shared_network of [true, false]) {
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await site.api.patch(`/services/${server.name}`, { shared_network })
  }

  assert.equal((await read).trim(), '32')
  await served
})
