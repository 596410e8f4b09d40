// What counts as one network and as one client in limits by address.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, networkOf } from '../../../src/http/rules/terminal-login-limit.ts'

const blocks = {
  '192.0.2.1': ['192.0.2/24', '192.0.2.1/32'],
  '::ffff:192.0.2.1': ['192.0.2/24', '192.0.2.1/32'],
  '::FFFF:c000:201': ['192.0.2/24', '192.0.2.1/32'],
  '0:0:0:0:0:ffff:192.0.2.1': ['192.0.2/24', '192.0.2.1/32'],
  '0000:0000:0000:0000:0000:ffff:c000:0201': ['192.0.2/24', '192.0.2.1/32'],
  '2001:db8:0:1::1': ['2001:db8:0::/48', '2001:db8:0:1::/64'],
  '2001:0db8:0000:0001:0000:0000:0000:0002': ['2001:db8:0::/48', '2001:db8:0:1::/64'],
  '2001:DB8::1:a:b:c:d': ['2001:db8:0::/48', '2001:db8:0:1::/64'],
  '2001:db8:1:2:3:4:5:6': ['2001:db8:1::/48', '2001:db8:1:2::/64'],
  '64:ff9b::192.0.2.1': ['64:ff9b:0::/48', '64:ff9b:0:0::/64'],
  '::1': ['0:0:0::/48', '0:0:0:0::/64'],
  '::': ['0:0:0::/48', '0:0:0:0::/64'],
  '1::': ['1:0:0::/48', '1:0:0:0::/64'],
  'fe80::1%eth0': ['fe80:0:0::/48', 'fe80:0:0:0::/64'],
}

for (const [address, [network, client]] of Object.entries(blocks)) {
  test(`${address} belongs to the network ${network} and is the client ${client}`, () => {
    assert.deepEqual([networkOf(address), clientOf(address)], [network, client])
  })
}

test('text that is not an address is unchanged', () => {
  for (const text of ['', 'unknown', '999.1.1.1', '1:2:3']) {
    assert.deepEqual([networkOf(text), clientOf(text)], [text, text])
  }
})
