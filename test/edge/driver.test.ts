// The driver with a real HAProxy: changes take effect at once, and without a new process.
import assert from 'node:assert/strict'
import { readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { Driver } from '../../src/edge/driver.ts'
import { workerUser } from '../../src/edge/host-process.ts'
import { fingerprintOfPem, openRuntime, readRuntimeState } from '../../src/edge/runtime.ts'
import { until } from '../support/daemon/service.ts'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { noRoutes, serveUpstream, startEdge } from '../support/edge/running-edge.ts'
import { issueTestCertificate } from '../support/edge/test-certificate.ts'

const says = (words: string) => (_: unknown, response: { end(text: string): void }) => response.end(words)

test('adding and removing services needs no new process', async (t) => {
  const edge = await startEdge(t)
  const before = await edge.driver.identify()
  const [a, b] = [await serveUpstream(t, says('a')), await serveUpstream(t, says('b'))]

  await edge.driver.apply(routesTo({ 'a.test': [upstream(a)] }))
  assert.equal((await edge.ask('a.test')).body, 'a')
  await edge.driver.apply(routesTo({ 'a.test': [upstream(a)], 'b.test': [upstream(b)] }))
  assert.deepEqual([(await edge.ask('a.test')).body, (await edge.ask('b.test')).body], ['a', 'b'])
  await edge.driver.apply(noRoutes)
  assert.equal((await edge.ask('a.test')).status, 404)

  assert.equal(await edge.driver.identify(), before)
})

test('a verified instance is reachable by its name only, and a leaving one not at all', async (t) => {
  const edge = await startEdge(t)
  const [old, young] = [await serveUpstream(t, says('old')), await serveUpstream(t, says('young'))]
  const responses = async () =>
    new Set(await Promise.all(Array.from({ length: 12 }, async () => (await edge.ask('a.test')).body)))

  await edge.driver.apply(routesTo({ 'a.test': [upstream(old), upstream(young, 'verifying')] }))
  assert.deepEqual(await responses(), new Set(['old']))
  await edge.driver.apply(routesTo({ 'a.test': [upstream(old), upstream(young)] }))
  assert.deepEqual(await responses(), new Set(['old', 'young']))
  await edge.driver.apply(routesTo({ 'a.test': [upstream(old, 'leaving'), upstream(young)] }))
  assert.deepEqual(await responses(), new Set(['young']))
})

test('a slot is reused by another instance, and slots are added where eight are too few', async (t) => {
  const edge = await startEdge(t)
  const names = Array.from({ length: 10 }, (_, at) => String(at))
  const ports = await Promise.all(names.map((name) => serveUpstream(t, says(name))))
  await edge.driver.apply(routesTo({ 'a.test': [upstream(ports[0]!)] }))
  await edge.driver.apply(routesTo({ 'a.test': [upstream(ports[5]!)] }))
  assert.equal((await edge.ask('a.test')).body, '5')
  const before = await edge.driver.identify()
  await edge.driver.apply(routesTo({ 'a.test': ports.slice(0, 8).map((port) => upstream(port)) }))
  assert.equal(await edge.driver.identify(), before)

  await edge.driver.apply(routesTo({ 'a.test': ports.map((port) => upstream(port)) }))

  const responses = await Promise.all(Array.from({ length: 80 }, async () => (await edge.ask('a.test')).body))
  assert.deepEqual([...new Set(responses)].sort(), names)
})

test('an open request outlives its upstream, is counted, and is cut with its slot', async (t) => {
  const edge = await startEdge(t)
  let isRequested = false
  const port = await serveUpstream(t, (_, response) => {
    isRequested = true
    response.write('begun')
  })
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  const socket = connect(edge.frame.httpPort)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n')
  let received = ''
  socket.on('data', (chunk) => (received += String(chunk)))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await until('the request to arrive', async () => isRequested && received.includes('begun'))

  await edge.driver.apply(routesTo({ 'a.test': [upstream(port, 'leaving')] }))
  assert.equal((await edge.driver.countOpen('p1')).get('s1'), 1)
  assert.equal((await edge.ask('a.test')).status, 503)
  await edge.driver.apply(noRoutes)
  await closed
  await until('nothing to be open', async () => (await edge.driver.countOpen('p1')).get('s1') === 0)
})

test('HAProxy restarted alone serves the same routes, from its files', async (t) => {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, says('here'))
  const routes = routesTo({ 'a.test': [null, upstream(port), null, null, null, upstream(port)] })
  await edge.driver.apply(routes)

  await edge.process.stop()
  await edge.process.ensure(new AbortController().signal)

  assert.equal((await edge.ask('a.test')).body, 'here')
})

test('a driver without state brings a running HAProxy to its routes, whatever it had', async (t) => {
  const edge = await startEdge(t)
  const [a, b] = [await serveUpstream(t, says('a')), await serveUpstream(t, says('b'))]
  await edge.driver.apply(
    routesTo({ 'a.test': [upstream(a)], 'b.test': [upstream(b)], 'c.test': [upstream(b)] }),
  )

  const fresh = new Driver(edge.files, edge.frame)
  await fresh.apply(routesTo({ 'a.test': [upstream(b)], 'b.test': [upstream(a, 'leaving')] }))

  assert.equal((await edge.ask('a.test')).body, 'b')
  assert.deepEqual([(await edge.ask('b.test')).status, (await edge.ask('c.test')).status], [503, 404])
})

test('changes made by others are noticed when the driver reads the state again', async (t) => {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, says('here'))
  const routes = routesTo({ 'a.test': [upstream(port)] })
  await edge.driver.apply(routes)
  await openRuntime(edge.files.adminSocket).change('set server p1/s1 state maint')
  assert.equal((await edge.ask('a.test')).status, 503)

  edge.driver.invalidate()
  await edge.driver.apply(routes)

  assert.equal((await edge.ask('a.test')).body, 'here')
})

test('more services than pools reload HAProxy once; open requests continue and are counted', async (t) => {
  const edge = await startEdge(t)
  let finish: () => void = () => assert.fail('unsolicited')
  const slow = await serveUpstream(t, (_, response) => {
    finish = () => response.end('late')
  })
  await edge.driver.apply(routesTo({ 'a.test': [upstream(slow)] }))
  const before = await edge.driver.identify()
  const waiting = edge.ask('a.test')
  await until('the request to be open', async () => (await edge.driver.countOpen('p1')).get('s1') === 1)

  const many = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`${'abcdef'[at]}.test`, [upstream(slow)]]),
  )
  await edge.driver.apply(routesTo(many))

  assert.notEqual(await edge.driver.identify(), before)
  assert.equal((await edge.driver.countOpen('p1')).get('s1'), 1)
  finish()
  assert.equal((await waiting).body, 'late')
})

async function certificateFor(host: string) {
  const { keyPem, chainPem } = await issueTestCertificate([host])
  const pem = `${keyPem}${chainPem}`.replace(/\n+/g, '\n')
  return { pem, fingerprint: fingerprintOfPem(chainPem) }
}

test('an abandoned transaction blocks no other certificate and nothing else', async (t) => {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, says('here'))
  const [left, next] = [await certificateFor('left.test'), await certificateFor('a.test')]
  const admin = openRuntime(edge.files.adminSocket)
  await edge.driver.apply({ ...noRoutes, certificates: [{ host: 'left.test', pem: left.pem }] })
  await admin.change(`set ssl cert ${edge.files.certificate('left.test')} <<\n${next.pem.trim()}\n`)

  const fresh = new Driver(edge.files, edge.frame)
  const routes = routesTo({ 'a.test': [upstream(port)] })
  const refusals = await fresh.apply({ ...routes, certificates: [{ host: 'a.test', pem: next.pem }] })

  assert.deepEqual(refusals, [])
  assert.equal((await edge.ask('a.test')).body, 'here')
  assert.equal((await readRuntimeState(admin, edge.files)).certificates.get('a.test'), next.fingerprint)
})

test('a rejected certificate is reported, and everything else is served', async (t) => {
  const edge = await startEdge(t)
  const port = await serveUpstream(t, says('here'))
  const { pem } = await certificateFor('a.test')
  const keyless = pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))

  const routes = routesTo({ 'a.test': [upstream(port)] })
  const refusals = await edge.driver.apply({ ...routes, certificates: [{ host: 'a.test', pem: keyless }] })

  assert.equal(refusals.length, 1)
  assert.equal((await edge.ask('a.test')).body, 'here')
})

test('a certificate is served, replaced and removed without a new process', async (t) => {
  const edge = await startEdge(t)
  const before = await edge.driver.identify()
  const [first, second] = [await certificateFor('a.test'), await certificateFor('a.test')]
  const found = async () =>
    (await readRuntimeState(openRuntime(edge.files.adminSocket), edge.files)).certificates.get('a.test') ??
    null
  for (const { pem, fingerprint } of [first, second]) {
    await edge.driver.apply({ ...noRoutes, certificates: [{ host: 'a.test', pem }] })
    assert.equal(await found(), fingerprint)
    assert.equal(readFileSync(edge.files.certificate('a.test'), 'utf8'), pem)
  }
  await edge.driver.apply(noRoutes)
  assert.equal(await found(), null)
  await edge.driver.apply({ ...noRoutes, certificates: [{ host: 'a.test', pem: second.pem }] })
  assert.equal(await found(), second.fingerprint)
  assert.equal(readFileSync(edge.files.certificate('a.test'), 'utf8'), second.pem)
  assert.equal(await edge.driver.identify(), before)
})

/** The fingerprint of the certificate that a client is shown; it may be the default one. */
function shownAt(port: number, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const place = { port, host: '127.0.0.1', servername, rejectUnauthorized: false }
    const socket = connectTls(place, () => {
      resolve(fingerprintOfPem(socket.getPeerX509Certificate()!.toString()))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

test('clients are shown a wildcard, its renewal also after a restart, and not a dropped one', async (t) => {
  const edge = await startEdge(t)
  const before = await edge.driver.identify()
  const shown = () => shownAt(edge.frame.httpsPort, 'any.example.com')
  const [first, renewed] = [await certificateFor('*.example.com'), await certificateFor('*.example.com')]
  const serve = ({ pem }: typeof first) =>
    edge.driver.apply({ ...noRoutes, certificates: [{ host: '*.example.com', pem }] })

  for (const certificate of [first, renewed]) {
    await serve(certificate)
    assert.equal(await shown(), certificate.fingerprint)
  }
  assert.notEqual(await shownAt(edge.frame.httpsPort, 'example.com'), renewed.fingerprint)
  assert.equal(await edge.driver.identify(), before)

  await edge.process.stop()
  await edge.process.ensure(new AbortController().signal)
  assert.equal(await shown(), renewed.fingerprint)

  const restarted = await edge.driver.identify()
  await edge.driver.apply(noRoutes)
  assert.notEqual(await shown(), renewed.fingerprint)
  assert.equal(await edge.driver.identify(), restarted)
})

test('the worker runs as another user in an empty root, also after a reload', async (t) => {
  const user = workerUser()
  if (user === null) return t.skip('needs root')
  const edge = await startEdge(t)
  const port = await serveUpstream(t, (_, response) => response.end('served'))
  const hosts = (count: number) =>
    routesTo(Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}.test`, [upstream(port)]])))

  for (const count of [1, 9]) {
    await edge.driver.apply(hosts(count))
    const pid = await edge.driver.identify()
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    assert.match(status, new RegExp(`^Uid:(\\s${user.uid}){4}$`, 'm'))
    assert.match(status, new RegExp(`^Gid:(\\s${user.gid}){4}$`, 'm'))
    assert.equal(readlinkSync(`/proc/${pid}/root`), edge.files.emptyDirectory)
    assert.equal((await edge.ask(`h${count - 1}.test`)).body, 'served')
  }
})

test('without a dedicated user the worker runs as nobody', () => {
  if (process.getuid?.() !== 0) return
  assert.deepEqual(workerUser('root:x:0:0::/:/bin/sh\n'), { uid: 65_534, gid: 65_534 })
})
