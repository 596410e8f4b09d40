// Requests through a real HAProxy with the generated configuration: headers about the client, https and
// protocols, and what is reported about each request.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { type AccessEvent, type AccessMark, readAccess } from '../../src/edge/access-events.ts'
import type { Routes } from '../../src/edge/routes.ts'
import { toAccessLine } from '../../src/effects/edge/haproxy-edge.ts'
import type { ServiceRoute } from '../../src/effects/edge/service-routes.ts'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { requestHttp2 } from '../support/edge/http2-request.ts'
import { type RunningEdge, serveUpstream, startEdge } from '../support/edge/running-edge.ts'

/** Answers what it was asked, as JSON. */
const echo = (t: Parameters<typeof serveUpstream>[0]) =>
  serveUpstream(t, ({ method, url, headers }, response) =>
    response.end(JSON.stringify({ method, url, headers })),
  )

async function startWith(
  edge: RunningEdge,
  port: number,
  change: (routes: Routes) => void = () => undefined,
) {
  const routes = routesTo({ 'a.test': [upstream(port)] })
  change(routes)
  await edge.driver.apply(routes)
}

/** The first requests that the edge reports. */
async function readEvents(t: TestContext, edge: RunningEdge, after: AccessMark | null, count: number) {
  const reading = new AbortController()
  t.after(() => reading.abort())
  const events: AccessEvent[] = []
  for await (const found of readAccess(edge.files, after, reading.signal)) {
    events.push(...found)
    if (events.length >= count) break
  }
  return events
}

test('forwarding headers of the client are dropped and replaced', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  const claims = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.test',
    'x-forwarded-prefix': '/admin',
    'x-real-ip': '203.0.113.9',
    'x-request-id': 'mine',
    'x-berth-edge': 'secret',
    'x-berth-upstream': 's9',
    x_forwarded_for: '203.0.113.9',
    'x-forwarded_proto': 'https',
    'x_real-ip': '203.0.113.9',
    x_berth_edge: 'secret',
    forwarded: 'for=203.0.113.9',
    proxy: 'http://evil.test',
    'keep-alive': 'timeout=600',
    'proxy-connection': 'keep-alive',
  }

  const response = await edge.ask('a.test', '/x?y=1', { headers: claims })

  const { method, url, headers } = JSON.parse(response.body)
  assert.deepEqual([method, url, headers.host], ['GET', '/x?y=1', 'a.test'])
  const reported = Object.fromEntries(Object.keys(claims).map((name) => [name, headers[name]]))
  assert.deepEqual(reported, {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'a.test',
    'x-forwarded-prefix': undefined,
    'x-real-ip': '127.0.0.1',
    'x-request-id': response.headers['x-request-id'],
    'x-berth-edge': undefined,
    'x-berth-upstream': undefined,
    x_forwarded_for: undefined,
    'x-forwarded_proto': undefined,
    'x_real-ip': undefined,
    x_berth_edge: undefined,
    forwarded: undefined,
    proxy: undefined,
    'keep-alive': undefined,
    'proxy-connection': undefined,
  })
  assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/)
})

test("a trusted proxy's headers are believed and extended", async (t) => {
  const edge = await startEdge(t, { trustedProxies: ['127.0.0.0/8'] })
  await startWith(edge, await echo(t))
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.example',
  }

  const reported = JSON.parse((await edge.ask('a.test', '/', { headers })).body).headers

  assert.equal(reported['x-forwarded-for'], '203.0.113.9, 127.0.0.1')
  assert.deepEqual([reported['x-forwarded-proto'], reported['x-forwarded-host']], ['https', 'shop.example'])
  assert.equal(reported['x-real-ip'], '203.0.113.9')
  const said = { ...headers, 'x-real-ip': '198.51.100.7' }
  assert.equal(
    JSON.parse((await edge.ask('a.test', '/', { headers: said })).body).headers['x-real-ip'],
    '198.51.100.7',
  )
  const alone = JSON.parse((await edge.ask('a.test')).body).headers
  assert.deepEqual([alone['x-forwarded-for'], alone['x-real-ip']], ['127.0.0.1', '127.0.0.1'])
  const events = await readEvents(t, edge, null, 3)
  assert.deepEqual(
    events.map(({ client }) => client),
    ['203.0.113.9', '203.0.113.9', '127.0.0.1'],
  )
})

test('a host with a certificate is redirected to https, and gets HSTS if enabled', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t), ({ maps }) => {
    maps.https.set('a.test', '1')
    maps.hsts.set('a.test', 'max-age=31536000')
    maps.challenges.set('token-1', 'token-1.key')
  })
  const { status, headers } = await edge.ask('a.test', '/x?y=1', { method: 'POST' })
  assert.deepEqual([status, headers.location], [308, `https://a.test:${edge.frame.httpsPort}/x?y=1`])
  assert.equal(headers['strict-transport-security'], undefined)
  const query = `?${'q'.repeat(3000)}`
  const far = await edge.ask('a.test', `/x${query}`)
  assert.equal(far.headers.location, `https://a.test:${edge.frame.httpsPort}/x${query}`)
  const challenge = await edge.ask('a.test', '/.well-known/acme-challenge/token-1')
  assert.deepEqual([challenge.status, challenge.body], [200, 'token-1.key'])
  assert.equal((await edge.ask('nobody.test', '/.well-known/acme-challenge/token-1')).body, 'token-1.key')
  assert.equal((await edge.ask('a.test', '/.well-known/acme-challenge/other')).status, 308)
  assert.equal((await requestHttp2(edge, '/')).headers['strict-transport-security'], 'max-age=31536000')
})

test('a redirected host leads to its target, by https if the request or the target has it', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t), ({ maps }) => {
    for (const [host, target] of [
      ['www.a.test', 'a.test'],
      ['b.test', 'c.test'],
    ]) {
      maps.hosts.set(host!, 'redirected')
      maps.redirects.set(host!, target!)
    }
    maps.https.set('c.test', '1')
  })
  const { httpPort, httpsPort } = edge.frame
  const lead = async (host: string) => {
    const { status, headers } = await edge.ask(`${host}:80`, '/x?y=1', { method: 'POST' })
    return [status, headers.location]
  }
  assert.deepEqual(await lead('www.a.test'), [308, `http://a.test:${httpPort}/x?y=1`])
  assert.deepEqual(await lead('b.test'), [308, `https://c.test:${httpsPort}/x?y=1`])
  const secure = await requestHttp2(edge, '/x?y=1', 'www.a.test')
  assert.deepEqual([secure.status, secure.headers.location], [308, `https://a.test:${httpsPort}/x?y=1`])
  assert.equal((await edge.ask('a.test')).status, 200)
})

test('HTTP/2 works on https, and the application learns of https', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  const { status, body } = await requestHttp2(edge, '/x?y=1')
  const { url, headers } = JSON.parse(body)
  assert.deepEqual(
    [status, url, headers.host, headers['x-forwarded-proto']],
    [200, '/x?y=1', 'a.test', 'https'],
  )
})

test('a WebSocket passes through in both directions', async (t) => {
  const edge = await startEdge(t)
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  t.after(() => server.close())
  server.on('connection', (socket) => socket.on('message', (words) => socket.send(`echo ${words}`)))
  await startWith(edge, (server.address() as AddressInfo).port)
  const socket = new WebSocket(`ws://127.0.0.1:${edge.frame.httpPort}/ws`, { headers: { host: 'a.test' } })
  t.after(() => socket.terminate())
  await once(socket, 'open')

  socket.send('hello')

  const [answer] = await once(socket, 'message')
  assert.equal(String(answer), 'echo hello')
  assert.equal((await edge.driver.countOpen('p1')).get('s1'), 1)
})

test('upgrades to protocols without rules are refused', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  const headers = { upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings', 'http2-settings': 'AAMAAABk' }

  const reported = JSON.parse((await edge.ask('a.test', '/', { headers })).body).headers

  assert.deepEqual([reported.upgrade, reported['http2-settings']], [undefined, undefined])
})

test('a very long request is logged too, truncated', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  const headers = { 'user-agent': '"'.repeat(5000) }
  await edge.ask('a.test', `/${'é'.repeat(1000)}`.replace(/é/g, '%C3%A9'), { headers })
  const [event] = await readEvents(t, edge, null, 1)
  assert.deepEqual([event!.path.length, event!.agent], [1000, '"'.repeat(300)])
})

test('an instance gets a request with a small body only when the body is complete', async (t) => {
  const edge = await startEdge(t)
  const seen: string[] = []
  const port = await serveUpstream(t, async (request, response) => {
    seen.push(request.url!)
    response.end(await text(request))
  })
  await startWith(edge, port)
  const socket = connect(edge.frame.httpPort, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('POST /slow HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\ncontent-length: 5\r\n\r\nwhol')
  for (let count = 0; count < 20; count++) await edge.ask('a.test', '/fast')

  assert.deepEqual(seen, Array(20).fill('/fast'))
  socket.write('e')
  assert.match(await text(socket), /^HTTP\/1\.1 200 .*whole/s)
})

test('each request is logged once, without its query, also for a reader that resumes later', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  await edge.ask('a.test', '/one?token=secret', { headers: { 'user-agent': 'a "quoted" agent' } })
  await edge.ask('nobody.test', '/two')
  const [one, two] = await readEvents(t, edge, null, 2)
  const { at, id, ms, data, in: bytesIn, out, ...rest } = one!
  assert.deepEqual(rest, {
    client: '127.0.0.1',
    host: 'a.test',
    method: 'GET',
    path: '/one',
    protocol: 'HTTP/1.1',
    tls: false,
    status: 200,
    end: '--',
    pool: 'p1',
    upstream: 's1',
    agent: 'a "quoted" agent',
  })
  assert.ok(
    Math.abs(at - Date.now()) < 60_000 &&
      ms >= data &&
      data >= 0 &&
      bytesIn > 0 &&
      out > 0 &&
      id.length === 36,
  )
  assert.deepEqual([two!.host, two!.status, two!.pool], ['nobody.test', 404, 'nohost'])

  await edge.ask('a.test', '/three')
  const later = await readEvents(t, edge, { id, at }, 2)
  assert.deepEqual(
    later.map(({ path }) => path),
    ['/two', '/three'],
  )
})

test('the log says why the edge responded in place of the application', async (t) => {
  const edge = await startEdge(t)
  const responses: Record<string, string> = {
    '/closes': '',
    '/breaks-off': 'HTTP/1.1 200 OK\r\nx: 1\r\n',
    '/talks': 'hello\r\n\r\n',
    '/boasts': `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(33 * 1024)}\r\ncontent-length: 0\r\n\r\n`,
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (head) => {
      const response = responses[String(head).split(' ')[1]!]
      if (response !== undefined) socket.end(response)
    })
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const routes = routesTo({ 'a.test': [upstream(port)], 'gone.test': [upstream(1)] })
  routes.maps.timeouts.set('a.test', '200')
  await edge.driver.apply(routes)

  const asked = [...Object.keys(responses), '/waits'].map((path) => ['a.test', path] as const)
  for (const [host, path] of [...asked, ['gone.test', '/'] as const]) {
    await edge.ask(host, path, { method: 'POST' })
  }

  const events = await readEvents(t, edge, null, 6)
  const route = { id: 'svc-1', upstreams: [] } as never as ServiceRoute
  assert.deepEqual(
    events.map((event) => [event.path, event.status, toAccessLine(event, route).failure]),
    [
      ['/closes', 502, 'no_response'],
      ['/breaks-off', 502, 'no_response'],
      ['/talks', 502, 'invalid_response'],
      ['/boasts', 502, 'invalid_response'],
      ['/waits', 504, 'response_timeout'],
      ['/', 503, 'no_connection'],
    ],
  )
})

test("the application's Keep-Alive header does not reach the client", async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  const { status, headers } = await edge.ask('a.test', '/', { headers: { connection: 'keep-alive' } })
  assert.deepEqual([status, headers['keep-alive']], [200, undefined])
})

test('a request in absolute form is logged by its path', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  const socket = connect(edge.frame.httpPort, '127.0.0.1')
  socket.write('GET http://a.test/one?token=secret HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n')
  await once(socket.resume(), 'close')
  const [event] = await readEvents(t, edge, null, 1)
  assert.deepEqual([event!.host, event!.path, event!.status], ['a.test', '/one', 200])
})

test('an HTTP/2 request is logged by its path', async (t) => {
  const edge = await startEdge(t)
  await startWith(edge, await echo(t))
  await requestHttp2(edge, '/two?token=secret')
  const [event] = await readEvents(t, edge, null, 1)
  const { method, path, protocol, tls } = event!
  assert.deepEqual([method, path, protocol, tls], ['GET', '/two', 'HTTP/2.0', true])
})

/** Headers by which clients pose as others, and that many applications believe. */
const address = '203.0.113.9'
const poses = {
  'client-ip': address,
  'x-client-ip': address,
  'true-client-ip': address,
  'x-cluster-client-ip': address,
  'fastly-client-ip': address,
  'cf-connecting-ip': address,
  'x-original-url': '/admin',
  'x-original-host': 'evil.test',
  'x-rewrite-url': '/admin',
  'x-original-forwarded-for': address,
}

/** Which of them reach the application. */
async function passed(t: TestContext, trustedProxies: string[]) {
  const edge = await startEdge(t, { trustedProxies })
  const port = await serveUpstream(t, ({ headers }, response) => response.end(JSON.stringify(headers)))
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  const headers = JSON.parse((await edge.ask('a.test', '/', { headers: poses })).body)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name in poses))
}

test('other headers about the client are dropped', async (t) => {
  assert.deepEqual(await passed(t, []), {})
})

test('the same holds for a client behind untrusted proxies', async (t) => {
  assert.deepEqual(await passed(t, ['10.0.0.0/8']), {})
})

test('those of a trusted proxy are passed on', async (t) => {
  assert.deepEqual(await passed(t, ['127.0.0.0/8']), poses)
})
