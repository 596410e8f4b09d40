// Probes of instances, and the port at which a program listens.
import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { InstanceState } from '../../../../src/docker/containers/instance-state.ts'
import { probeInstances } from '../../../../src/effects/deploy/check/check.ts'
import {
  createAdvice,
  isLikely,
  mayStillOpenPort,
  pickListeningPort,
} from '../../../../src/effects/deploy/check/port-search.ts'
import { chooseProbe, otherProtocol } from '../../../../src/effects/deploy/check/probes.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { Failure } from '../../../../src/errors.ts'
import type { ServiceProtocol, ServiceRow } from '../../../../storage/services.ts'
import { standIn } from '../../../support/effects/stand-in.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

interface Found {
  parts?: Partial<DeployPorts>
  portSource?: 'setting' | 'default'
  /** The process whose listeners are searched. */
  pid?: number | null
}

const unknownUsage = () => Promise.reject(new Error('unknown'))

/** A deploy whose only instance is a process that listens on this port of the host. */
async function openCheck(
  t: TestContext,
  port: number,
  settings: Partial<ServiceRow> = {},
  { parts = {}, portSource = 'setting', pid = null }: Found = {},
) {
  const storage = await temporaryStorage(t)
  const service = serviceRow(settings)
  await storage.services.create(service)
  await storage.releases.freeze('dep-1', () => ({ settings: service, env: [], resolved: null }))
  const instance = { name: 'shop-0', state: 'running' as const, address: '127.0.0.1', pid }
  const instances = { list: async () => [instance], inspectExit: async () => instance, usage: unknownUsage }
  const ports = standIn<DeployPorts>({ storage, instances, settings: { baseDomain: 'localhost' }, ...parts })
  const input = { id: 'dep-1', serviceId: service.id }
  return (signal: AbortSignal) => probeInstances(new DeployPhase(ports, input, signal), { port, portSource })
}

async function listen(
  t: TestContext,
  port = 0,
  host = '127.0.0.1',
): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(port, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

test('an instance that listens late passes, and its check leaves nothing behind', async (t) => {
  const { server, port } = await listen(t)
  server.close()
  await once(server, 'close')
  const check = await openCheck(t, port)
  const { signal } = new AbortController()

  const checking = check(signal)
  await new Promise((resolve) => setTimeout(resolve, 200))
  await listen(t, port)
  await checking

  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('the check of a path names the host of the service, and Berth as its user agent', async (t) => {
  const received: IncomingHttpHeaders[] = []
  const server = createHttpServer(({ headers }, response) => {
    received.push(headers)
    response.end()
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const check = await openCheck(t, port, { name: 'shop', health_check_path: '/healthz' })

  await check(new AbortController().signal)

  const [{ host, 'user-agent': agent } = {}] = received
  assert.deepEqual([host, agent], ['shop.localhost', 'Berth'])
})

/** What a health check says of the server. */
async function answerOf(t: TestContext, server: Server, protocol: ServiceProtocol, path = '/') {
  if (!server.listening) {
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
  }
  const { port } = server.address() as AddressInfo
  const settings = serviceRow({ health_check_path: path, protocol })
  const healthcheck = async () => null
  const probe = chooseProbe({
    settings,
    port,
    hostName: 'shop.localhost',
    hasHealthcheck: false,
    healthcheck,
  })
  const instance = { name: 'shop-0', address: '127.0.0.1' } as InstanceState
  return probe.run(instance, new AbortController().signal)
}

test('the check of a path speaks HTTP/2 if the app does', async (t) => {
  const server = createHttp2Server((request, response) => {
    const { ':authority': host, 'user-agent': agent } = request.headers
    const isRight = host === 'shop.localhost' && agent === 'Berth' && request.url === '/h%C3%A9?x'
    response.writeHead(isRight ? 204 : 500).end()
  })
  assert.equal(await answerOf(t, server, 'h2c', '/hé?x'), null)
  assert.equal(await answerOf(t, server, 'h2c', '/other'), '500')
  assert.equal(await answerOf(t, server, 'http'), otherProtocol)
})

test('a server of HTTP/1.1, and one that is gone, do not pass a check of HTTP/2', async (t) => {
  const server = createHttpServer((_, response) => response.end())
  assert.equal(await answerOf(t, server, 'h2c'), otherProtocol)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const gone = { listening: true, address: () => ({ port }) } as Server
  assert.equal(await answerOf(t, gone, 'h2c'), 'connection refused')
})

test('a search for the port waits for Docker', async (t) => {
  const { server, port: unused } = await listen(t)
  server.close()
  const { port } = await listen(t, 0, '0.0.0.0')
  let reads = 0
  const readImage = async () => {
    reads += 1
    if (reads === 1) throw new Failure('docker_unavailable', 'Docker does not respond')
    return { Id: 'image', Config: { ExposedPorts: { [`${port}/tcp`]: {} } } }
  }
  const engine = {
    call: (_: string, work: () => Promise<unknown>) => work(),
    docker: { getImage: () => ({ inspect: readImage }) },
  } as unknown as DeployPorts['engine']
  const network = { name: 'private', range: { first: '10.0.0.2', last: '10.0.0.9' }, gateway: '10.0.0.1' }
  const parts = { engine, engineReady: async () => network }
  const check = await openCheck(t, unused, {}, { parts, portSource: 'default', pid: process.pid })

  const found = await check(new AbortController().signal)

  assert.equal(found.port, port)
  assert.ok(reads > 1)
})

const at = (...ports: number[]) => ports.map((port) => ({ port, isLoopback: false }))
const inside = (port: number) => ({ port, isLoopback: true })

test('the only reachable port is used', () => {
  assert.equal(pickListeningPort(at(8000), []), 8000)
  assert.equal(pickListeningPort([...at(8000), inside(9000)], []), 8000)
  assert.equal(pickListeningPort(at(50051), []), 50051)
  assert.equal(pickListeningPort([inside(8000)], []), null)
  assert.equal(pickListeningPort([], []), null)
})

test('with several ports none is guessed, unless all others are known side ports', () => {
  assert.equal(pickListeningPort(at(8000, 9000), []), null)
  assert.equal(pickListeningPort(at(8000, 45_123, 45_124), []), 8000)
  assert.equal(pickListeningPort(at(45_123, 45_124), []), null)
})

test('of several exposed ports the first open one is used, with ssh and TLS last', () => {
  assert.equal(pickListeningPort(at(80, 443, 2019), [80, 443]), 80)
  assert.equal(pickListeningPort(at(443), [80, 443]), 443)
  assert.equal(pickListeningPort(at(22, 3001), [22, 3001]), 3001)
  assert.equal(pickListeningPort(at(9100), [80, 443]), 9100)
})

test('an exposed metrics port comes last, and any but the first gives the others time', () => {
  assert.equal(pickListeningPort(at(2112, 3000), [2112, 3000]), 3000)
  assert.equal(pickListeningPort(at(9090), [3000, 9090]), 9090)
  assert.deepEqual([isLikely(9090, [3000, 9090]), isLikely(3000, [3000, 9090])], [false, true])
  assert.equal(isLikely(8000, [3000, 9090]), false)
  assert.deepEqual([isLikely(8000, []), isLikely(9090, [])], [true, false])
})

test('an idle app may be late only with a side port or a long grace period', () => {
  const within = (seconds: number) => ({ settings: { health_check_timeout_seconds: seconds } })
  assert.equal(mayStillOpenPort(at(9090), within(300)), true)
  assert.equal(mayStillOpenPort([...at(9090), inside(2019)], within(60)), true)
  assert.equal(mayStillOpenPort(at(8000), within(300)), false)
  assert.equal(mayStillOpenPort(at(8000, 9090), within(300)), false)
  assert.equal(mayStillOpenPort([inside(5000)], within(300)), false)
  assert.equal(mayStillOpenPort(at(8000), within(301)), true)
})

test('an app that listens on 127.0.0.1 gets a hint with that port', () => {
  const advice = (listeners: ReturnType<typeof at>, portSource: 'default' | 'setting') =>
    createAdvice(listeners, { serviceName: 'web', port: 3000, portSource }).message.replace(
      'the instance listens on ',
      '',
    )
  const only = '5000 at 127.0.0.1 only: it must listen on 0.0.0.0:5000'
  assert.equal(advice([inside(5000)], 'default'), only)
  assert.equal(advice([inside(5000)], 'setting'), `${only}, with berth update web --port 5000`)
  assert.match(advice([inside(3000)], 'setting'), /^3000 at 127.0.0.1 only: it must listen on 0.0.0.0:3000/)
  assert.match(advice([...at(9090), inside(3000)], 'setting'), /: it must listen on 0.0.0.0:3000$/)
  assert.match(advice([inside(2019), inside(5000)], 'default'), /: it must listen on 0.0.0.0:5000$/)
  assert.match(advice(at(2112, 8000), 'setting'), /: berth update web --port 8000$/)
})
