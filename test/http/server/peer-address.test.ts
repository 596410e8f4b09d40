// The address of a peer: as people and --trusted-proxy write it, on a socket of either family.
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { addressOf } from '../../../src/http/server/exchange.ts'
import { openServer } from '../../../src/http/server/server.ts'

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex')).buffer

test('four bytes are an IPv4 address, and so are sixteen with a mapped one', () => {
  assert.equal(addressOf(bytes('c0000207')), '192.0.2.7')
  assert.equal(addressOf(bytes('00000000000000000000ffffc0000207')), '192.0.2.7')
})

test('any other sixteen bytes are a full IPv6 address', () => {
  assert.equal(
    addressOf(bytes('20010db8000000000000000000000001')),
    '2001:0db8:0000:0000:0000:0000:0000:0001',
  )
  assert.equal(
    addressOf(bytes('000000000000000000000000c0000207')),
    '0000:0000:0000:0000:0000:0000:c000:0207',
  )
})

test('a disconnected peer has no address', () => {
  assert.equal(addressOf(new ArrayBuffer(0)), '')
})

/** A server that responds with the address of the client. */
async function start(t: TestContext, host: string) {
  const { port, stop } = await openServer({
    host,
    port: 0,
    targets: new Map(),
    listener: (_, request, response) => response.send(200, [], request.address()),
  })
  t.after(() => stop(0))
  return async (name: string) => (await fetch(`http://${name}:${port}/`)).text()
}

test('on an IPv4 socket a peer is identified by its IPv4 address', async (t) => {
  const ask = await start(t, '127.0.0.1')

  assert.equal(await ask('127.0.0.1'), '127.0.0.1')
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))

test('on a dual-stack socket too', { skip: !hasIpv6 && 'no IPv6 here' }, async (t) => {
  const ask = await start(t, '::')

  assert.equal(await ask('127.0.0.1'), '127.0.0.1')
  assert.equal(await ask('[::1]'), '0000:0000:0000:0000:0000:0000:0000:0001')
})
