// What an application can reach beyond the private network, and that services stay isolated after the engine
// was killed and restarted.
// Runs in a namespace; a second one stands for the internet and the metadata addresses of clouds.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tableOf } from '../../src/firewall/rules.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { findInstance, openDocker, runIn } from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { pageApp, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { baseImages } from '../support/docker/images.ts'
import { loadImage, saveImage, startNamespaceEngine } from '../support/docker/namespace-engine.ts'
import { run } from '../support/system/command.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { whyNoFirewall } from '../support/system/firewall.ts'
import { isInside, openNetwork, runInside, whyNoNamespace } from '../support/system/namespace.ts'

const scope = fileScope()
const internet = '198.51.100.2'
const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192']

function outside(impossible: string | null): void {
  test(
    'metadata addresses are refused, and a restarted engine stays isolated',
    { skip: impossible ?? false },
    prove,
  )
}

async function prove(): Promise<void> {
  const directory = temporaryDirectory(scope)
  for (const [name, image] of Object.entries(await baseImages()))
    await saveImage(await ensureEngine(), image, join(directory, `${name}.tar`))
  const { code, lines } = await runInside(import.meta.url, { PREPARED: directory })
  assert.equal(code, 0, lines.join('\n'))
}

/** A network behind a link, with a server on ports 53 and 80 of all these addresses. */
async function openInternet(): Promise<void> {
  const listen = "require('http').createServer((_, r) => r.end('there')).listen"
  const serve = `for (const port of [53, 80]) ${listen}(port)`
  const child = spawn('unshare', ['--net', process.execPath, '-e', `${serve}; console.log('up')`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  scope.after(() => void child.kill('SIGKILL'))
  await once(child.stdout!, 'data')
  const ip = (...args: string[]) => run('ip', args)
  const there = (...args: string[]) => run('nsenter', [`--net=/proc/${child.pid}/ns/net`, 'ip', ...args])
  await ip('link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'up0', 'netns', String(child.pid))
  await ip('address', 'add', '198.51.100.1/24', 'dev', 'uplink')
  await ip('link', 'set', 'uplink', 'up')
  await there('address', 'add', `${internet}/24`, 'dev', 'up0')
  await there('link', 'set', 'up0', 'up')
  for (const address of metadata) await there('address', 'add', `${address}/32`, 'dev', 'up0')
  await ip('route', 'add', 'default', 'via', internet)
}

async function inside(): Promise<void> {
  const prepared = process.env.PREPARED!
  await openNetwork('10.99.0.1')
  await openInternet()
  const engine = await startNamespaceEngine(join(prepared, 'engine'))
  scope.after(() => engine.stop())
  process.env.DOCKER_HOST = engine.address
  for (const file of readdirSync(prepared).filter((name) => name.endsWith('.tar')))
    await loadImage(engine.address, join(prepared, file))
  const daemon = await launchDaemon()
  scope.after(() => daemon.remove())
  const page = await pageApp('page')
  const make = () => createService(scope, daemon.api, page, { type: 'private_service' })
  const [client, server] = [await make(), await make()]
  const ask = await openAsking(daemon, client.name)

  await proveMetadata(daemon, ask)
  assert.equal(await ask(`${server.name}:3000`), null)
  await engine.kill()
  await engine.start()
  await until('the instances to be back', async () => {
    for (const { name } of [client, server]) {
      const { instances } = await daemon.api.get(`/services/${name}/status`)
      if (instances[0]?.state !== 'running') return false
    }
    return (await ask(internet)) === 'there'
  })
  assert.equal(await ask(`${server.name}:3000`), null)
  assert.deepEqual((await daemon.api.get('/info')).network_isolation, { enforced: true, reason: null })
  await daemon.api.patch(`/services/${server.name}`, { shared_network: true })
  await until('it to be open', async () => (await ask(`${server.name}:3000`)) === 'page')
}

type Ask = (address: string) => Promise<string | null>

async function openAsking(daemon: TestDaemon, name: string): Promise<Ask> {
  const docker = await openDocker()
  let container = await findInstance(daemon.api, name)
  return async (address) => {
    // While the daemon is down, the last rules apply.
    container = await findInstance(daemon.api, name).catch(() => container)
    const script = `wget -q -O - http://${address} 2>/dev/null || echo refused`
    const response = (await runIn(docker, container, 'sh', '-c', script)).trim()
    return response === 'refused' ? null : response
  }
}

async function proveMetadata(daemon: TestDaemon, ask: Ask): Promise<void> {
  const requestAll = () => Promise.all(metadata.map(ask))
  assert.equal(await ask(internet), 'there')
  assert.deepEqual(
    await requestAll(),
    metadata.map(() => null),
  )
  assert.equal(await ask(`${metadata[0]}:53`), 'there')
  // Without the rules all of them respond, so the rules are what blocks them.
  await daemon.stop()
  assert.deepEqual(
    await requestAll(),
    metadata.map(() => null),
  )
  await run('nft', ['delete', 'table', 'inet', tableOf(daemon.prefix)])
  assert.deepEqual(
    await requestAll(),
    metadata.map(() => 'there'),
  )
  await daemon.start()
  await until('the rules', async () => (await daemon.api.get('/info')).network_isolation.enforced)
  assert.deepEqual(
    await requestAll(),
    metadata.map(() => null),
  )
}

if (isInside) test('inside', inside)
else outside((await whyNoNamespace()) ?? (await whyNoFirewall()))
