// Applications that speak HTTP/2 only, such as gRPC servers, behind a real HAProxy.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { WebSocket } from 'ws'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { openGrpc, serveGrpc } from '../support/edge/grpc-echo.ts'
import { serveUpstream, startEdge } from '../support/edge/running-edge.ts'

const host = 'a.test'
const fine = { code: status.OK, details: 'OK' }

test('gRPC calls of all kinds pass the edge over https', async (t) => {
  const edge = await startEdge(t)
  const port = await serveGrpc(t, 'v1')
  await edge.driver.apply(routesTo({ [host]: [upstream(port, 'ready', true)] }))
  const client = openGrpc(t, edge.frame.httpsPort, host)
  const long = 'x'.repeat(100_000)
  const succeeded = (...messages: string[]) => ({ messages, ...fine, trailer: 'v1' })
  const failed = { code: status.NOT_FOUND, details: 'nothing in v1', trailer: 'v1' }

  assert.deepEqual(await client.say('hello'), succeeded('v1 hello'))
  assert.deepEqual(await client.count(3, 10), succeeded('v1 1', 'v1 2', 'v1 3'))
  assert.deepEqual(await client.gather(['a', 'b', long]), succeeded(`v1 a b ${long}`))
  assert.deepEqual(await client.talk(['a', 'b', long]), succeeded('v1 a', 'v1 b', `v1 ${long}`))
  assert.deepEqual(await client.say('fail'), { messages: [], ...failed })
  assert.deepEqual(await client.talk(['a', 'fail']), { messages: ['v1 a'], ...failed })
})

test('a version may speak another protocol than the former one, for clients of HTTP/1.1', async (t) => {
  const edge = await startEdge(t)
  const former = await serveUpstream(t, (_, response) => response.end('http'))
  const server = createServer((request, response) => request.pipe(response))
  const { port } = await listen(t, server)
  const other = await serveUpstream(t, (_, response) => response.end('other'))
  const ask = async (name: string) => {
    const { status: code, body } = await edge.ask(name, '/', { method: 'POST', body: 'echo' })
    return `${code} ${body}`
  }
  const apply = (...slots: ReturnType<typeof upstream>[]) =>
    edge.driver.apply(routesTo({ [host]: slots, 'b.test': [upstream(other)] }))

  await apply(upstream(former))
  assert.deepEqual([await ask(host), await ask('b.test')], ['200 http', '200 other'])
  await apply(upstream(former, 'leaving'), upstream(port, 'ready', true))
  assert.deepEqual([await ask(host), await ask('b.test')], ['200 echo', '200 other'])
  await apply(upstream(port, 'ready', true))
  assert.equal(await ask(host), '200 echo')
  await apply(upstream(port, 'leaving', true), upstream(former))
  assert.deepEqual([await ask(host), await ask('b.test')], ['200 http', '200 other'])
})

test('WebSockets need extended CONNECT, and are refused with the reason without it', async (t) => {
  const edge = await startEdge(t)
  const able = createServer({ settings: { enableConnectProtocol: true } })
  able.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    stream.respond({ ':status': headers[':protocol'] === 'websocket' ? 200 : 400 })
    stream.pipe(stream)
  })
  const unable = createServer((_, response) => response.end('fine'))
  const ports = [await listen(t, able), await listen(t, unable)].map(({ port }) => port)
  const [a, b] = ports.map((port) => [upstream(port, 'ready', true)])
  await edge.driver.apply(routesTo({ [host]: a!, 'b.test': b! }))

  const socket = new WebSocket(`ws://127.0.0.1:${edge.frame.httpPort}/ws`, { headers: { host } })
  t.after(() => socket.terminate())
  await once(socket, 'open')
  // The server sends the client's masked frames back, which a client must refuse.
  socket.send('hello')
  const [error] = await once(socket, 'error')
  assert.equal(error.code, 'WS_ERR_UNEXPECTED_MASK')

  const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const headers = { ...handshake, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
  const refused = await edge.ask('b.test', '/ws', { headers })
  assert.equal(refused.status, 502)
  assert.match(refused.body, /must support extended CONNECT/)
  assert.equal((await edge.ask('b.test')).body, 'fine')
})

async function listen(t: TestContext, server: ReturnType<typeof createServer>): Promise<AddressInfo> {
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server.address() as AddressInfo
}
