// What the edge answers itself through a real HAProxy: its pages, and what it refuses or tries again.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { type RunningEdge, serveUpstream, startEdge } from '../support/edge/running-edge.ts'

const pages: [what: string, host: string, status: number, code: string, title: string][] = [
  ['a host that is none', 'a.test:x@evil.test', 400, 'malformed_request', 'Bad request'],
  ['an unknown host', 'nobody.test', 404, 'unknown_host', 'No such site'],
  ['a service without an instance that is ready', 'empty.test', 503, 'no_instance_ready', 'Not ready'],
  ['a suspended service', 'asleep.test', 503, 'suspended', 'Suspended'],
  ['an instance that hangs up', 'broken.test', 502, 'bad_gateway', 'No answer'],
  ['an instance that is too slow', 'slow.test', 504, 'gateway_timeout', 'Too slow'],
]
test('each failure has its page, and a problem document for clients that request JSON', async (t) => {
  const edge = await startEdge(t)
  const broken = await serveUpstream(t, ({ socket }) => void socket.destroy())
  const slow = await serveUpstream(t, () => undefined)
  const routes = routesTo({
    'empty.test': [],
    'broken.test': [upstream(broken)],
    'slow.test': [upstream(slow)],
  })
  routes.maps.hosts.set('asleep.test', 'suspended')
  routes.maps.timeouts.set('slow.test', '200')
  await edge.driver.apply(routes)
  for (const [what, host, status, code, title] of pages) {
    const page = await edge.ask(host, '/', { method: 'POST', headers: { accept: 'text/html' } })
    const problem = await edge.ask(host, '/', { method: 'POST', headers: { accept: 'application/json' } })
    assert.deepEqual([page.status, problem.status], [status, status], what)
    assert.match(page.body, new RegExp(`<h1>${title}</h1>`), what)
    const { body } = page
    assert.ok(
      body.includes(`Request <code>${page.headers['x-request-id']}</code></small>`),
      `${what}: ${body}`,
    )
    assert.deepEqual(
      [page.headers['content-type'], page.headers['cache-control']],
      ['text/html; charset=utf-8', 'no-store'],
    )
    const reported = JSON.parse(problem.body)
    assert.deepEqual(
      [reported.status, reported.code, reported.request_id],
      [status, code, problem.headers['x-request-id']],
      what,
    )
    assert.equal(problem.headers['content-type'], 'application/problem+json', what)
    assert.equal(page.headers['retry-after'] !== undefined, status > 500, what)
    assert.equal(page.headers['x-berth-answer'], undefined)
  }
})

test('error pages of an application pass unchanged', async (t) => {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, (_, response) =>
    response.writeHead(503, { 'content-type': 'text/plain' }).end('mine'),
  )
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  const answer = await edge.ask('a.test', '/', { headers: { accept: 'application/json' } })
  assert.deepEqual([answer.status, answer.body, answer.headers['content-type']], [503, 'mine', 'text/plain'])
})

test('a POST is never sent twice, a GET is retried if nothing responded', async (t) => {
  const edge = await startEdge(t)
  const requests: string[] = []
  const port = await serveUpstream(t, ({ method, socket }) => {
    requests.push(method!)
    socket.destroy()
  })
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  assert.equal((await edge.ask('a.test', '/', { method: 'POST', body: 'order' })).status, 502)
  assert.deepEqual(requests, ['POST'])
  assert.equal((await edge.ask('a.test')).status, 502)
  assert.ok(requests.length > 2)
})

test('a body over the limit of the service is refused by its length, and others pass', async (t) => {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, (_, response) => response.end('fine'))
  const routes = routesTo({ 'a.test': [upstream(port)] })
  routes.maps['body-limits'].set('a.test', '10')
  await edge.driver.apply(routes)
  const send = (body: string) =>
    edge.ask('a.test', '/', { method: 'POST', body, headers: { 'content-length': String(body.length) } })
  assert.equal((await send('0123456789')).status, 200)
  const refused = await send('0123456789A')
  assert.equal(refused.status, 413)
  assert.match(refused.body, /Too large/)
})

test('a WebSocket that the application refuses while the client sends has a page of the edge', async (t) => {
  const edge = await startEdge(t)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno'))
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await edge.driver.apply(routesTo({ 'a.test': [upstream((server.address() as AddressInfo).port)] }))

  const { status, id, body } = await openSocket(t, edge, Buffer.alloc(10_000))

  // HAProxy 2.6 loses the answer of the application.
  if (status === 500) assert.ok(body.includes(`Request <code>${id}</code>`), body)
  else assert.deepEqual([status, body], [403, 'no'])
})

/** Opens a WebSocket of HTTP/2, and sends the data before there is an answer. */
async function openSocket(t: TestContext, { frame }: RunningEdge, data: Buffer) {
  const session = connectHttp2(`https://127.0.0.1:${frame.httpsPort}`, { rejectUnauthorized: false })
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  const head = { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https', ':path': '/' }
  const stream = session.request({ ...head, ':authority': 'a.test' }, { endStream: false })
  stream.write(data)
  const [headers] = await once(stream, 'response')
  let body = ''
  stream.setEncoding('utf8').on('data', (chunk) => (body += chunk))
  await once(stream, 'close')
  return { status: headers[':status'], id: String(headers['x-request-id']), body }
}
