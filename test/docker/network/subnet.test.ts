import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressAt,
  formatSubnet,
  nextSubnet,
  overlaps,
  parseRoutes,
  parseSubnet,
} from '../../../src/docker/network/subnet.ts'

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
