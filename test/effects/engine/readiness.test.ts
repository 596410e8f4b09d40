// The readiness of the real engine: established once for all waiting effects, and never on foreign objects.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import type { Network } from '../../../src/docker/network/networks.ts'
import { createEngineReadiness, type EngineReadinessOptions } from '../../../src/effects/engine/readiness.ts'
import { type DockerSite, openDockerSite, testOwner, testSubnet } from '../../support/docker/docker-site.ts'
import { ensureEngine } from '../../support/docker/engine.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { testMac } from '../../support/system/test-mac.ts'

const neverAborted = new AbortController().signal

function readinessOf(
  { engine, owner }: Pick<DockerSite, 'engine' | 'owner'>,
  changes: Partial<EngineReadinessOptions> = {},
) {
  const done: string[] = []
  const opened: Network[] = []
  const readiness = createEngineReadiness({
    engine,
    owner,
    storage: { predecessors: () => [] },
    subnet: testSubnet,
    reconcile: async () => void done.push('reconciled'),
    onForeignObjects: (failure) => done.push(failure.message),
    onOpen: (network) => opened.push(network),
    ...changes,
  })
  return { ...readiness, done, opened }
}

test('the gate opens once for all waiters, after everything was reconciled', async (t) => {
  const site = await openDockerSite(t)
  const order: string[] = []
  const { engineReady, opened } = readinessOf(site, {
    reconcile: async () => void order.push('reconciled'),
  })
  const pass = async () => {
    const network = await engineReady(neverAborted)
    order.push(network.name)
    return network
  }

  const networks = await Promise.all([pass(), pass(), pass()])

  const { prefix } = site.owner
  assert.deepEqual(order, ['reconciled', prefix, prefix, prefix])
  assert.deepEqual(new Set(networks).size, 1)
  const created = await site.engine.docker.listNetworks({ filters: { name: [prefix] } })
  assert.deepEqual(
    created.map(({ Name, IPAM }) => [Name, IPAM?.Config?.[0]?.Subnet]),
    opened.map(({ name, subnet }) => [name, subnet]),
  )
  assert.equal(opened.length, 1)
})

test('foreign objects with its prefix keep the gate closed, and are named', async (t) => {
  const site = await openDockerSite(t)
  const other = { prefix: site.owner.prefix, serverId: testOwner().serverId, mac: testMac }
  await ensureVolume(site.engine, other, `${other.prefix}-disk`)
  const { engineReady, done, opened } = readinessOf(site)

  await assert.rejects(engineReady(neverAborted), { code: 'foreign_objects' })

  const { prefix } = site.owner
  const message = `Docker has objects of the prefix '${prefix}' that belong to another data directory: `
  assert.deepEqual(done, [`${message}volume ${prefix}-disk`])
  assert.deepEqual(opened, [])
  const networks = await site.engine.docker.listNetworks({ filters: { name: [prefix] } })
  assert.deepEqual(networks, [])
})

test('the gate waits for an unresponsive engine until the signal aborts', async (t) => {
  const { owner } = await openDockerSite(t)
  const socket = join(temporaryDirectory(t), 'docker.sock')
  const engine = openEngine(`unix://${socket}`)
  t.after(() => engine.close())
  const { engineReady, done, opened } = readinessOf({ engine, owner })
  const impatient = new AbortController()
  const reason = new Error('canceled')
  const givesUp = engineReady(impatient.signal)
  const waits = engineReady(neverAborted)
  impatient.abort(reason)
  await assert.rejects(givesUp, reason)
  assert.deepEqual([opened, done], [[], []])

  symlinkSync(new URL(await ensureEngine()).pathname, socket)

  assert.equal((await waits).name, owner.prefix)
  assert.deepEqual(done, ['reconciled'])
})

test('if opening fails, the next caller retries', async (t) => {
  const site = await openDockerSite(t)
  let attempts = 0
  const { engineReady } = readinessOf(site, {
    reconcile: async () => {
      if (++attempts === 1) throw new Error('half way')
    },
  })
  await assert.rejects(engineReady(neverAborted), /half way/)
  await engineReady(neverAborted)
  await engineReady(neverAborted)
  assert.equal(attempts, 2)
})
