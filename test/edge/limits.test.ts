// The limits for one client, and what other clients get while it is at them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { hasIpv6 } from '../../src/edge/files.ts'
import { type Limits, limitsFor } from '../../src/edge/limits.ts'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { type Client, openClient, untilSettled } from '../support/edge/loopback-clients.ts'
import { type RunningEdge, serveUpstream, startEdge } from '../support/edge/running-edge.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { long } from '../support/system/drill-size.ts'

const open: Limits = { connections: 1000, connectionsPerAddress: 0, requestsPerAddress: 0 }
const get = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'

async function start(t: TestContext, limits: Partial<Limits>, frame: Parameters<typeof startEdge>[1] = {}) {
  const edge = await startEdge(t, { limits: { ...open, ...limits }, ...frame })
  const port = await serveUpstream(t, (requested, response) => {
    requested.resume().once('end', () => response.end('served'))
  })
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  return edge
}

function openMany(t: TestContext, edge: RunningEdge, from: string, count: number, text = get): Client[] {
  return Array.from({ length: count }, () => openClient(t, edge.frame.httpPort, from, text))
}

const areServed = (clients: Client[]) =>
  clients.filter(({ received }) => /^HTTP\/1.1 200/.test(received)).length

test('an address has a limited number of connections, and others keep theirs', async (t) => {
  const edge = await start(t, { connectionsPerAddress: 20 })
  const greedy = openMany(t, edge, '127.0.0.2', 50)
  await untilSettled(greedy)
  assert.equal(areServed(greedy), 20)

  const others = openMany(t, edge, '127.0.0.3', 20)
  await untilSettled(others)
  assert.equal(areServed(others), 20)

  for (const client of greedy) client.destroy()
  await eventually('a connection of the first address again', async () => {
    const again = openMany(t, edge, '127.0.0.2', 1)
    await untilSettled(again)
    return areServed(again) === 1
  })
})

test('an address that sends too many requests gets 429, and others are served', async (t) => {
  const edge = await start(t, { requestsPerAddress: 5 })
  const [one] = openMany(t, edge, '127.0.0.2', 1, get.repeat(60))
  await eventually('the last response', () => one!.received.split('HTTP/1.1 ').length === 61)
  assert.equal(one!.received.match(/HTTP\/1.1 200/g)?.length, 50)
  assert.match(one!.received, /HTTP\/1.1 429 .*retry-after: 10\r\n.*Too many requests/is)

  const json = openClient(
    t,
    edge.frame.httpPort,
    '127.0.0.2',
    get.replace('\r\n\r\n', '\r\nAccept: application/json\r\n\r\n'),
  )
  await untilSettled([json])
  assert.match(json.received, /HTTP\/1.1 429 .*problem\+json.*"code":"too_many_requests"/is)
  const others = openMany(t, edge, '127.0.0.3', 20)
  await untilSettled(others)
  assert.equal(areServed(others), 20)
})

test('a trusted proxy has no limits', async (t) => {
  const limits = { connectionsPerAddress: 10, requestsPerAddress: 1 }
  const edge = await start(t, limits, { trustedProxies: ['127.0.0.2'] })
  const proxied = openMany(t, edge, '127.0.0.2', 40)
  await untilSettled(proxied)
  assert.equal(areServed(proxied), 40)
  const direct = openMany(t, edge, '127.0.0.3', 40)
  await untilSettled(direct)
  assert.equal(areServed(direct), 10)
})

test('IPv6 addresses are counted by their /64', async (t) => {
  if (!hasIpv6()) return t.skip('this host has no IPv6')
  const edge = await start(t, { connectionsPerAddress: 10 }, { hasIpv6: true })
  const clients = [...openMany(t, edge, '::1', 15), ...openMany(t, edge, '127.0.0.2', 5)]
  await untilSettled(clients)
  assert.equal(areServed(clients), 15)
  const keys = (await edge.admin.ask('show table addresses')).match(/key=\S+/g)?.sort()
  assert.deepEqual(keys, ['key=::', 'key=::ffff:127.0.0.2'])
})

test('connections close after their response when most are in use, and not before', async (t) => {
  const edge = await start(t, { connections: 40 })
  const clients: Client[] = []
  for (let at = 0; at < 35; at++) {
    clients.push(...openMany(t, edge, '127.0.0.2', 1))
    await untilSettled(clients)
  }
  const closing = clients.map(({ received }) => /connection: close/i.test(received))
  assert.deepEqual(closing, [...Array(30).fill(false), true, true, true, true, true])
})

long('the last https connections are reserved for the dashboard', async (t) => {
  const dashboard = { address: '127.0.0.1:1', host: 'dash.test', secret: 'secret' }
  const edge = await start(t, { connections: 40 }, { dashboard })
  const shake = (servername: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connectTls({
        port: edge.frame.httpsPort,
        host: '127.0.0.1',
        servername,
        rejectUnauthorized: false,
      })
      t.after(() => socket.destroy())
      socket.once('error', () => resolve(false)).once('close', () => resolve(false))
      // A refused client is cut off right after the handshake.
      socket.once('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: b.test\r\n\r\n'))
      socket.once('data', () => resolve(true))
    })
  const held = Array.from({ length: 36 }, () => openTls(t, edge))
  await Promise.all(held)
  await eventually('36 connections', async () => {
    const [, row = ''] = (await edge.admin.ask('show stat https 1 -1')).split('\n')
    return row.split(',')[4] === '36'
  })
  assert.deepEqual([await shake('a.test'), await shake('dash.test')], [false, true])
})

/** A connection that sends nothing after its handshake. */
function openTls(t: TestContext, edge: RunningEdge): Promise<void> {
  return new Promise((resolve) => {
    const options = { port: edge.frame.httpsPort, host: '127.0.0.1', rejectUnauthorized: false }
    const socket = connectTls(options, () => resolve()).on('error', () => {})
    t.after(() => socket.destroy())
  })
}

test('a small body reaches an instance when it is complete, a large one immediately', async (t) => {
  const edge = await startEdge(t)
  let heads = 0
  const port = await serveUpstream(t, (requested, response) => {
    heads += 1
    requested.resume().once('end', () => response.end('served'))
  })
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  const post = (length: number, more = '') =>
    openMany(
      t,
      edge,
      '127.0.0.2',
      1,
      `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${length}\r\n${more}\r\n`,
    )[0]!

  const small = post(10)
  small.write('half ')
  const large = post(1_000_000)
  await eventually('the large one', () => heads === 1)
  large.write('x'.repeat(1_000_000))
  await untilSettled([large])
  assert.equal(heads, 1)
  small.write('whole')
  await untilSettled([small])
  assert.deepEqual([heads, areServed([small, large])], [2, 2])

  const waiting = post(5, 'Expect: 100-continue\r\n')
  await untilSettled([waiting])
  assert.match(waiting.received, /^HTTP\/1.1 100 /)
  waiting.write('12345')
  await eventually('its response', () => /HTTP\/1.1 200 .*served$/s.test(waiting.received))
  const never = post(5)
  await untilSettled([never])
  assert.match(never.received, /^HTTP\/1.1 408 /)
  assert.equal(heads, 3)
})

test('a host with little memory has fewer connections, and one address never most of them', () => {
  const requested = { connectionsPerAddress: 1000, requestsPerAddress: 500 }
  const mebibyte = 1024 * 1024
  assert.deepEqual(limitsFor(256 * mebibyte, requested), {
    ...requested,
    connections: 1000,
    connectionsPerAddress: 250,
  })
  assert.deepEqual(limitsFor(2048 * mebibyte, requested), { ...requested, connections: 4096 })
  assert.deepEqual(limitsFor(1024 ** 4, requested), { ...requested, connections: 50_000 })
})
