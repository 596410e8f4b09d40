// The Host of a request: the edge routes by it, and applications make links from it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { requestHttp2 } from '../support/edge/http2-request.ts'
import { type RunningEdge, serveUpstream, startEdge } from '../support/edge/running-edge.ts'
import { raw } from '../support/http/http-context.ts'

const service = 'a.test'
const long = `${'label.'.repeat(42)}x`

/** An edge with one service, which answers the Host that it received, and that of X-Forwarded-Host. */
async function startWithEcho(t: TestContext): Promise<RunningEdge> {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, ({ headers, url }, response) =>
    response.end(`${headers.host} ${headers['x-forwarded-host']} ${url}`),
  )
  await edge.driver.apply(routesTo({ [service]: [upstream(port)] }))
  return edge
}

/** The status of a request with exactly these lines. */
async function statusOf(edge: RunningEdge, ...lines: string[]): Promise<number> {
  const { text } = await raw(edge.frame.httpPort, [...lines, 'Connection: close', '', ''].join('\r\n'))
  return Number(text.split(' ')[1])
}

test('the Host reaches the application as it is, and so does X-Forwarded-Host', async (t) => {
  const edge = await startWithEcho(t)
  for (const host of [service, 'A.Test', `${service}.`, `${service}:8080`, 'A.TEST.:65535']) {
    assert.equal((await edge.ask(host, '/x')).body, `${host} ${host} /x`)
    assert.equal((await requestHttp2(edge, '/x', host)).body, `${host} ${host} /x`)
  }
})

test('names and addresses that nobody serves are unknown', async (t) => {
  const edge = await startWithEcho(t)
  const hosts = ['b.test', 'a_b.test', '_a', 'x--y.test', '127.0.0.1', '127.0.0.1:80', long, `${long}.:80`]
  for (const host of [...hosts, '[::1]', '[::1]:443', '[2001:db8::A]', '[::ffff:192.0.2.1]:8080']) {
    assert.equal((await edge.ask(host)).status, 404, host)
    assert.equal((await requestHttp2(edge, '/', host)).status, 404, host)
  }
})

const withUser = ['u@a.test', 'u:p@a.test', 'a.test:x@evil.test', 'a.test:80@evil.test', 'a.test@evil.test']
const withPath = ['evil.test/?,a.test', 'a.test/x', 'a.test?x', 'a.test#x', 'a.test\\x']
const lists = ['evil.test, a.test', 'a.test,evil.test', 'a.test,a.test', 'a.test,', ',a.test', 'a.test evil']
const ports = [
  'a.test:x',
  'a.test:80:80',
  'a.test:123456',
  'a.test:65536',
  'a.test:-1',
  'a.test:+80',
  ':80',
  ':',
]
const names = ['a..test', 'a.test..', '.a.test', '.', '-a.test', 'a-.test', '*.test', '%61.test', '"a.test"']
const tooLong = [`${'x'.repeat(64)}.test`, `${long}.tail`, 'x'.repeat(8_000), `${'a.'.repeat(4_000)}test`]
const addresses = [
  '::1',
  '[::1',
  '::1]',
  '[]',
  '[a.test]',
  '[::1]x',
  '[:::]',
  '[1:2]',
  '[::1%25lo]',
  '[v1.a]',
]
const characters = ['a.tést', "a'test", 'a;test', '(a)', 'a{}', '<a>', 'a|b', '$a', '~a', 'a=b', 'a&b', '!']

test('a Host that is not one name or address, with an optional port, is refused', async (t) => {
  const edge = await startWithEcho(t)
  const hosts = [withUser, withPath, lists, ports, names, tooLong, addresses, characters].flat()
  for (const host of hosts) {
    const bytes = Buffer.from(host).toString('latin1')
    assert.equal((await edge.ask(bytes)).status, 400, host)
    assert.equal((await requestHttp2(edge, '/', bytes)).status, 400, host)
  }
  // In HTTP/2, HAProxy takes the first for the host `http` and a path, and resets the stream of the second.
  for (const host of ['http://a.test', 'x'.repeat(20_000)]) {
    assert.equal((await edge.ask(host)).status, 400)
  }
  for (const control of ['\u0001', '\t', '\u007f', '\u0000']) {
    assert.equal(await statusOf(edge, 'GET / HTTP/1.1', `Host: a.te${control}st`), 400)
  }
})

test('a request names one host', async (t) => {
  const edge = await startWithEcho(t)
  assert.equal(await statusOf(edge, 'GET / HTTP/1.1', 'Host: a.test', 'Host: evil.test'), 400)
  assert.equal(await statusOf(edge, 'GET / HTTP/1.1', 'Host: evil.test', 'Host: a.test'), 400)
  assert.equal(await statusOf(edge, 'GET / HTTP/1.1', 'Host: a.test', 'Host:'), 400)
  for (const version of ['1.0', '1.1']) {
    assert.equal(await statusOf(edge, `GET / HTTP/${version}`), 400)
    assert.equal(await statusOf(edge, `GET / HTTP/${version}`, 'Host:'), 400)
  }
  assert.equal((await requestHttp2(edge, '/', '')).status, 400)
})

test('a request target in absolute form names the same host, without a user', async (t) => {
  const edge = await startWithEcho(t)
  const target = (url: string, ...lines: string[]) => statusOf(edge, `GET ${url} HTTP/1.1`, ...lines)
  for (const url of [
    'http://a.test/',
    'http://a.test',
    'http://a.test/x@y',
    'http://a.test/?u=http://x@y/',
  ]) {
    assert.equal(await target(url, 'Host: a.test'), 200, url)
  }
  assert.equal(await target('http://a.test:81/', 'Host: a.test:81'), 200)
  assert.equal(await target('/x/y@z', 'Host: a.test'), 200)
  for (const url of ['http://evil.test/', 'http://a.test:81/', 'http://u@a.test/', 'HTTP://u:p@a.test/x']) {
    assert.equal(await target(url, 'Host: a.test'), 400, url)
  }
  assert.equal(await target('http://u@a.test/', 'Host: u@a.test'), 400)
  assert.equal(await target('http://a.test/'), 400)
})

test('HTTP/2: the authority is the host', async (t) => {
  const edge = await startWithEcho(t)
  const { body } = await requestHttp2(edge, '/', service, { host: 'evil.test' })
  assert.equal(body, `${service} ${service} /`)
  assert.equal((await requestHttp2(edge, '/', 'evil.test', { host: service })).status, 404)
})

test('a challenge is answered for an address, and for no other text', async (t) => {
  const edge = await startEdge(t)
  const routes = routesTo({})
  routes.maps.challenges.set('token-1', 'token-1.key')
  await edge.driver.apply(routes)
  const path = '/.well-known/acme-challenge/token-1'
  for (const host of ['192.0.2.1', '[2001:db8::1]', 'b.test:80']) {
    assert.equal((await edge.ask(host, path)).body, 'token-1.key')
  }
  assert.equal((await edge.ask('evil.test/?,a.test', path)).status, 400)
})
