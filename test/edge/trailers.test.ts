// Requests with trailers through the edge, to a server that takes them for requests: no client may get a
// response that is not its own.
import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { startNaiveServer } from '../support/edge/naive-server.ts'
import { type RunningEdge, startEdge } from '../support/edge/running-edge.ts'
import { attack, attackByHttp2, endings, type Visitor, visit } from '../support/edge/trailer-attack.ts'
import { startApi, token } from '../support/http/http-context.ts'
import { eventually } from '../support/supervisor/supervision.ts'

const runMs = 4000
const host = 'a.test'

async function run(t: TestContext, edge: RunningEdge, visitors: Visitor[], path = '/attack') {
  const until = Date.now() + runMs
  const session = connectHttp2(`https://127.0.0.1:${edge.frame.httpsPort}`, { rejectUnauthorized: false })
  t.after(() => session.destroy())
  const visiting = visitors.map((visitor) => visit(edge, visitor, until))
  const one = { isTls: true, path, endings: endings.slice(0, 1) }
  const attacking = [
    ...[one, one, one, { ...one, endings }, { ...one, endings, isTls: false }].map((form) =>
      attack(edge, form, until),
    ),
    attackByHttp2(session, until),
  ]
  const visits = await Promise.all(visiting)
  await Promise.all(attacking)
  assert.deepEqual(visits.flatMap(({ wrong }) => wrong).slice(0, 5), [])
}

test('trailers of one client do not change the responses of others, at an application', async (t) => {
  const edge = await startEdge(t)
  const server = await startNaiveServer(t)
  await edge.driver.apply(routesTo({ [host]: [upstream(server.port)] }))

  const visitors = Array.from({ length: 10 }, (_, at): Visitor => {
    return { path: (requested) => `/v${at}-${requested}`, isRight: (body, path) => body === path }
  })
  await run(t, edge, visitors)
  assert.ok(server.connections.flat().includes('/stolen'), 'the server takes trailers for requests')
})

test('trailers of one client do not change the responses of others, at the dashboard', async (t) => {
  const secret = 'secret'
  const api = await startApi(t, { edgeSecret: secret, allowedHosts: (name) => name === host })
  const edge = await startEdge(t, { dashboard: { address: `127.0.0.1:${api.server.port}`, host, secret } })
  const routes = routesTo({})
  routes.maps.hosts.set(host, 'dashboard')
  await edge.driver.apply(routes)
  const owner: Visitor = {
    path: () => '/api/v1/services',
    headers: { authorization: `Bearer ${token}` },
    isRight: (body) => body === '[]',
  }
  const foreign: Visitor = { path: () => '/healthz', isRight: (body) => body === 'ok' }

  const visitors = [owner, owner, owner, ...Array.from({ length: 7 }, () => foreign)]
  // A long response leaves more time for requests of others.
  await run(t, edge, visitors, '/api/v1/openapi.json')
})

test('a connection to the dashboard is never shared between clients', async (t) => {
  const server = await startNaiveServer(t)
  const dashboard = { address: `127.0.0.1:${server.port}`, host, secret: 'secret' }
  const edge = await startEdge(t, { dashboard, trustedProxies: ['127.0.0.0/8'] })
  const routes = routesTo({})
  routes.maps.hosts.set(host, 'dashboard')
  await edge.driver.apply(routes)
  const clients = ['a', 'b', 'c'].map((name) => {
    const socket = connect(edge.frame.httpPort, '127.0.0.1')
    t.after(() => socket.destroy())
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    return (path: string) => {
      socket.write(`GET /${name}${path} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Proto: https\r\n\r\n`)
      return eventually(`the response to ${path}`, () => text.endsWith(`/${name}${path}`))
    }
  })

  for (const path of ['1', '2', '3']) for (const ask of clients.reverse()) await ask(path)

  const names = server.connections.map((paths) => new Set(paths.map((path) => path[1])).size)
  assert.deepEqual(names, [1, 1, 1], JSON.stringify(server.connections))
})

test('after an upload without a length the connection of the client stays open', async (t) => {
  const edge = await startEdge(t)
  const server = await startNaiveServer(t)
  await edge.driver.apply(routesTo({ [host]: [upstream(server.port)] }))
  const socket = connect(edge.frame.httpPort, '127.0.0.1')
  t.after(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  socket.write('POST /one HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n')
  await eventually('the first response', () => text.endsWith('/one'))
  socket.write('GET /two HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await eventually('the second response', () => text.endsWith('/two'))
  assert.doesNotMatch(text, /connection: close/i)
})
