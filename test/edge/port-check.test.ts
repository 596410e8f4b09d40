// A nonce that only this edge can answer, asked on its public ports.
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { hasIpv6 } from '../../src/edge/files.ts'
import type { Frame } from '../../src/edge/frame.ts'
import { findPortOwner, proofOf } from '../../src/edge/port-check.ts'
import { startEdge } from '../support/edge/running-edge.ts'

const { signal } = new AbortController()
const proof = proofOf('a secret for tests')
const at = (port: number, isTls: boolean, address = '127.0.0.1') => ({ address, port, isTls })

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

async function answerers(t: TestContext, changed: Partial<Frame>, address?: string): Promise<string[]> {
  const { frame } = await startEdge(t, changed)
  const targets = [at(frame.httpPort, false, address), at(frame.httpsPort, true, address)]
  return Promise.all(targets.map((target) => findPortOwner(target, proof, signal)))
}

const ownAnswers = ['this edge', 'this edge']

test('the edge is recognized on both ports, also behind a trusted proxy', async (t) => {
  assert.deepEqual(await answerers(t, {}), ownAnswers)
  assert.deepEqual(await answerers(t, { trustedProxies: ['127.0.0.0/8'] }), ownAnswers)
})

test('the edge is recognized on IPv6', { skip: !hasIpv6() }, async (t) => {
  assert.deepEqual(await answerers(t, { hasIpv6: true }, '::1'), ownAnswers)
})

test('the edge is recognized while it refuses an address that sends too many requests', async (t) => {
  const limits = { connections: 1000, connectionsPerAddress: 100, requestsPerAddress: 1 }
  const edge = await startEdge(t, { limits })
  const statuses = []
  for (let count = 0; count < 30; count++) statuses.push((await edge.ask('unknown.test')).status)
  assert.equal(statuses.at(-1), 429)
  assert.equal(await findPortOwner(at(edge.frame.httpPort, false), proof, signal), 'this edge')
})

test('an edge with another secret is another program', async (t) => {
  assert.deepEqual(await answerers(t, { proof: proofOf('another secret') }), [
    'another program',
    'another program',
  ])
})

test('any other response is another program: HTTP, not HTTP, an endless response', async (t) => {
  const copying = createHttpServer(({ url }, response) => response.end(url))
  const endless = createHttpServer((_, answer) => {
    const send = () => {
      if (answer.write('x'.repeat(10_000))) setImmediate(send)
    }
    answer.on('drain', send)
    answer.on('close', () => answer.removeAllListeners('drain'))
    send()
  })
  const greeting = createServer((socket) => socket.on('error', () => undefined).end('220 mail\r\n'))
  for (const server of [copying, endless, greeting]) {
    const port = await listen(t, server)
    assert.equal(await findPortOwner(at(port, false), proof, signal), 'another program')
    assert.equal(await findPortOwner(at(port, true), proof, signal), 'another program')
  }
})

test('a port without a listener, or whose listener closes the connection, has no program', async (t) => {
  const cutting = createServer((socket) => socket.on('error', () => undefined).resetAndDestroy())
  const port = await listen(t, cutting)
  assert.equal(await findPortOwner(at(port, false), proof, signal), 'none')
  assert.equal(await findPortOwner(at(port, true), proof, signal), 'none')
  await new Promise((resolve) => cutting.close(resolve))
  assert.equal(await findPortOwner(at(port, false), proof, signal), 'none')
})
