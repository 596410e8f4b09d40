// The gate to the real engine: opened once, for all who wait, and never on somebody else's objects.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import type { Network } from '../../../src/docker/network/networks.ts'
import { createGate, type GateOptions } from '../../../src/effects/engine/gate.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { type DockerSite, openDockerSite, testOwner, testSubnet } from '../../support/docker-site.ts'
import { ensureEngine } from '../../support/engine.ts'
import { silent } from '../../support/supervised.ts'

const nobody = new AbortController().signal

function gateOf({ engine, owner }: Pick<DockerSite, 'engine' | 'owner'>, changes: Partial<GateOptions> = {}) {
  const done: string[] = []
  const opened: Network[] = []
  const gate = createGate({
    engine,
    owner,
    storage: { directory: '/nowhere', predecessors: { serverIds: () => [] } } as never,
    logger: silent,
    takeOver: '',
    subnet: testSubnet,
    reconcile: async () => void done.push('reconciled'),
    onForeign: (failure) => done.push(failure.message),
    onOpen: (network) => opened.push(network),
    ...changes,
  })
  return { ...gate, done, opened }
}

test('it opens once for all who ask, and nobody passes before everything was reconciled', async (t) => {
  const site = await openDockerSite(t)
  const order: string[] = []
  const { ready, isOpen, opened } = gateOf(site, { reconcile: async () => void order.push('reconciled') })
  assert.equal(isOpen(), false)
  const pass = async () => {
    const network = await ready(nobody)
    order.push(network.name)
    return network
  }

  const networks = await Promise.all([pass(), pass(), pass()])

  const { prefix } = site.owner
  assert.deepEqual(order, ['reconciled', prefix, prefix, prefix])
  assert.deepEqual(new Set(networks).size, 1)
  assert.equal(isOpen(), true)
  const made = await site.engine.docker.listNetworks({ filters: { name: [prefix] } })
  assert.deepEqual(
    made.map(({ Name, IPAM }) => [Name, IPAM?.Config?.[0]?.Subnet]),
    opened.map(({ name, subnet }) => [name, subnet]),
  )
  assert.equal(opened.length, 1)
})

test('objects of its prefix that are another server’s keep it shut, and are named', async (t) => {
  const site = await openDockerSite(t)
  const other = { prefix: site.owner.prefix, serverId: testOwner().serverId }
  await ensureVolume(site.engine, other, `${other.prefix}-disk`)
  const { ready, isOpen, done } = gateOf(site)

  await assert.rejects(ready(nobody), { code: 'foreign_objects' })

  const { prefix } = site.owner
  const message = `Docker has objects of the prefix '${prefix}' that belong to another data directory: `
  assert.deepEqual(done, [`${message}volume ${prefix}-disk`])
  assert.equal(isOpen(), false)
  const made = await site.engine.docker.listNetworks({ filters: { name: [prefix] } })
  assert.deepEqual(made, [])
})

test('it waits for an engine that does not answer yet, as long as the signal lets it', async (t) => {
  const { owner } = await openDockerSite(t)
  const socket = join(temporaryDirectory(t), 'docker.sock')
  const engine = openEngine(`unix://${socket}`)
  t.after(() => engine.close())
  const { ready, isOpen, done } = gateOf({ engine, owner })
  const impatient = new AbortController()
  const reason = new Error('canceled')
  const givesUp = ready(impatient.signal)
  const waits = ready(nobody)
  impatient.abort(reason)
  await assert.rejects(givesUp, reason)
  assert.deepEqual([isOpen(), done], [false, []])

  symlinkSync(new URL(await ensureEngine()).pathname, socket)

  assert.equal((await waits).name, owner.prefix)
  assert.deepEqual(done, ['reconciled'])
})

test('when opening fails, the next one who asks tries again', async (t) => {
  const site = await openDockerSite(t)
  let attempts = 0
  const { ready } = gateOf(site, {
    reconcile: async () => {
      if (++attempts === 1) throw new Error('half way')
    },
  })
  await assert.rejects(ready(nobody), /half way/)
  await ready(nobody)
  await ready(nobody)
  assert.equal(attempts, 2)
})
