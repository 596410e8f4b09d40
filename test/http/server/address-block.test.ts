// What counts as one client in limits by address.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from '../../../src/http/server/address-block.ts'

test('an IPv4 address is one client, also in IPv6 notation', () => {
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('0:0:0:0:0:ffff:192.0.2.1'), '192.0.2.1')
})

test('an IPv6 /64 network is one client, in any notation', () => {
  for (const address of [
    '2001:db8:0:1::1',
    '2001:0db8:0000:0001:0000:0000:0000:0002',
    '2001:DB8::1:a:b:c:d',
  ]) {
    assert.equal(networkOf(address), '2001:db8:0:1::/64', address)
  }
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.notEqual(networkOf('2001:db8:0:2::1'), networkOf('2001:db8:0:1::1'))
})

test('text that is not an address is unchanged', () => {
  for (const text of ['', 'unknown', '999.1.1.1']) assert.equal(networkOf(text), text)
})
