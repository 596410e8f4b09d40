import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownerLabels } from '../../../src/docker/engine/names.ts'
import { ensureNetwork } from '../../../src/docker/network/networks.ts'
import { addressAt, overlaps, parseSubnet } from '../../../src/docker/network/subnet.ts'
import { openDockerSite, testOwner, testSubnet } from '../../support/docker/docker-site.ts'

test('a network is created once and reused, whatever subnet is requested later', async (t) => {
  const { engine, owner } = await openDockerSite(t)

  const network = await ensureNetwork(engine, owner, testSubnet)
  const found = await ensureNetwork(engine, owner, '10.240.0.0/26')

  assert.deepEqual(found, network)
  assert.equal(network.name, owner.prefix)
  assert.equal(network.gateway, addressAt(parseSubnet(network.subnet)!, 1))
})

test('of two networks of our name, created concurrently, the older one is kept', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const network = await ensureNetwork(engine, owner, testSubnet)
  await engine.docker.createNetwork({ Name: owner.prefix, Labels: ownerLabels(owner) })

  const kept = await ensureNetwork(engine, owner, testSubnet)

  assert.deepEqual(kept, network)
  const networks = await engine.docker.listNetworks({ filters: { name: [owner.prefix] } })
  assert.equal(networks.length, 1)
})

test('a subnet in use by another network is skipped, and the next free one used', async (t) => {
  const first = await openDockerSite(t)
  const second = await openDockerSite(t)

  const one = await ensureNetwork(first.engine, first.owner, testSubnet)
  const two = await ensureNetwork(second.engine, second.owner, one.subnet)

  assert.equal(overlaps(parseSubnet(one.subnet)!, parseSubnet(two.subnet)!), false)
})

test('a foreign network of the same name is an error and is left alone', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const foreign = { ...owner, serverId: testOwner().serverId }
  await engine.docker.createNetwork({ Name: owner.prefix, Labels: ownerLabels(foreign) })

  const pendingNetwork = ensureNetwork(engine, owner, testSubnet)

  await assert.rejects(pendingNetwork, { code: 'docker_error', message: /does not belong to this server/ })
})

test('an invalid subnet is rejected', async (t) => {
  const { engine, owner } = await openDockerSite(t)

  await assert.rejects(ensureNetwork(engine, owner, '10.201.0.0'), { code: 'invalid_request' })
})
