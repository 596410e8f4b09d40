import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownerLabels } from '../../../src/docker/engine/names.ts'
import {
  addressAt,
  ensureNetwork,
  formatSubnet,
  nextSubnet,
  overlaps,
  parseRoutes,
  parseSubnet,
} from '../../../src/docker/network/networks.ts'
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

const subnet = (text: string) => parseSubnet(text)!

test('a subnet is normalized to the block of its address', () => {
  assert.equal(formatSubnet(subnet('10.201.7.9/16')), '10.201.0.0/16')
  assert.equal(formatSubnet(subnet('255.255.255.255/32')), '255.255.255.255/32')
  for (const text of ['', '10.0.0.0', '10.0.0/8', '10.0.0.256/8', '10.0.0.0/33', 'fd00::/8']) {
    assert.equal(parseSubnet(text), null, text)
  }
})

test('addresses are counted across byte boundaries', () => {
  assert.equal(addressAt(subnet('10.201.0.0/16'), 1), '10.201.0.1')
  assert.equal(addressAt(subnet('10.201.0.0/16'), 259), '10.201.1.3')
})

test('blocks overlap exactly if one contains the other', () => {
  assert.equal(overlaps(subnet('10.201.0.0/16'), subnet('10.201.9.0/24')), true)
  assert.equal(overlaps(subnet('10.201.9.0/24'), subnet('10.0.0.0/8')), true)
  assert.equal(overlaps(subnet('10.201.0.0/16'), subnet('10.202.0.0/16')), false)
})

test('the next block has the same size and leaves no gap', () => {
  assert.equal(formatSubnet(nextSubnet(subnet('10.201.0.0/16'))), '10.202.0.0/16')
  assert.equal(formatSubnet(nextSubnet(subnet('10.201.255.192/26'))), '10.202.0.0/26')
})

test("the kernel's routing table is read without the default route", () => {
  const table = [
    'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
    'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    '',
  ]

  assert.deepEqual(parseRoutes(table.join('\n')).map(formatSubnet), ['172.17.0.0/16', '192.0.2.0/24'])
})
