// The edge: its software, the check of its public ports, and the words for its problems.
import assert, { deepEqual, rejects } from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ensureEdgeContainer } from '../../../src/docker/containers/edge-container.ts'
import type { Driver } from '../../../src/edge/driver.ts'
import type { EdgeFiles } from '../../../src/edge/files.ts'
import type { Frame } from '../../../src/edge/frame.ts'
import { HaproxyEdge } from '../../../src/effects/edge/haproxy-edge.ts'
import { findPortProblem } from '../../../src/effects/edge/public-ports.ts'
import { findOtherImage } from '../../../src/effects/edge/software.ts'
import { Failure } from '../../../src/errors.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { haproxyImage } from '../../support/docker/server-images.ts'
import { startEdge } from '../../support/edge/running-edge.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function openEdge(t: TestContext, verifySocket = '') {
  const calls: string[] = []
  const state = { process: 1, isFailing: false }
  const driver = {
    identify: async () => state.process,
    invalidate: () => void calls.push('invalidate'),
    apply: async () => {
      calls.push('apply')
      if (state.isFailing) throw new Failure('edge_unavailable', 'no answer')
      return []
    },
  }
  const edge = new HaproxyEdge({
    storage: await temporaryStorage(t),
    settings: { baseDomain: 'localhost' },
    files: { generation: 1, verifySocket } as EdgeFiles,
    driver: driver as unknown as Driver,
    publicPorts: { httpPort: 80, httpsPort: 443, ownHost: 'own.invalid' },
    routeSources: { dashboardHost: null },
    certificates: () => new Map(),
    accessLog: { recordAccess: () => undefined, newest: async () => null },
    unavailableReason: () => 'no answer',
  })
  /** The calls of the driver in one round. */
  const round = async () => {
    calls.length = 0
    await edge.round()
    return [...calls]
  }
  return { edge, state, calls, round }
}

test('a round reads everything for a new process, and does nothing without a change', async (t) => {
  const { edge, state, round } = await openEdge(t)
  deepEqual(await round(), ['invalidate', 'apply'])
  deepEqual(await round(), [])
  edge.dropChallenge('none')
  deepEqual(await round(), ['apply'])
  state.process = 2
  deepEqual(await round(), ['invalidate', 'apply'])
})

test('a comparison that failed is repeated by the next round', async (t) => {
  const { edge, state, calls, round } = await openEdge(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  await round()
  t.mock.timers.tick(61_000)
  state.isFailing = true
  calls.length = 0
  await rejects(edge.round(), { code: 'edge_unavailable' })
  deepEqual(calls, ['invalidate', 'apply'])

  state.isFailing = false
  deepEqual(await round(), ['invalidate', 'apply'])
  deepEqual(await round(), [])
})

const { signal } = new AbortController()

test('a request that reached another instance is sent again once all routes are applied', async (t) => {
  const socket = join(temporaryDirectory(t), 'verify.sock')
  const { edge, calls } = await openEdge(t, socket)
  let isKnown = false
  const server = createHttpServer((_, response) => {
    response.setHeader('x-berth-upstream', isKnown ? 's2' : 's1').end()
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.after(() => server.close())
  const wanted = { pool: 1, slot: 2, host: 'shop.localhost', healthPath: '/' }
  const verified = edge.verify(wanted, signal)
  await edge.next(60_000, signal)
  assert.deepEqual(calls, [])
  isKnown = true
  await edge.round()
  await verified
  assert.deepEqual(calls, ['invalidate', 'apply'])

  isKnown = false
  const refused = edge.verify(wanted, signal)
  for (const _ of [1, 2]) {
    await edge.next(60_000, signal)
    await edge.round()
  }
  await rejects(refused, { code: 'not_reached', message: /GET \/ for shop.localhost → 200$/ })
})

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('the edge is recognized on both ports, also behind a trusted proxy', async (t) => {
  for (const changed of [{}, { trustedProxies: ['127.0.0.0/8'] }] satisfies Partial<Frame>[]) {
    const { frame } = await startEdge(t, changed)
    assert.equal(await findPortProblem(frame, signal), null)
  }
})

test('the edge is recognized while it refuses an address that sends too many requests', async (t) => {
  const limits = { connections: 1000, connectionsPerAddress: 100, requestsPerAddress: 1 }
  const edge = await startEdge(t, { limits })
  const statuses = []
  for (let count = 0; count < 30; count++) statuses.push((await edge.ask('unknown.test')).status)
  assert.equal(statuses.at(-1), 429)
  assert.equal(await findPortProblem(edge.frame, signal), null)
})

test('an edge with another secret, and any other response, is another program', async (t) => {
  const { frame } = await startEdge(t)
  const copying = await listen(
    t,
    createHttpServer(({ url }, response) => response.end(url)),
  )
  const greeting = await listen(
    t,
    createServer((socket) => socket.on('error', () => undefined).end('220 mail\r\n')),
  )
  for (const [changed, port] of [
    [{ ownHost: 'other.invalid' }, frame.httpPort],
    [{ httpPort: copying }, copying],
    [{ httpsPort: copying }, copying],
    [{ httpPort: greeting }, greeting],
    [{ httpsPort: greeting }, greeting],
  ] as const) {
    const message = `another program responds on port ${port}`
    const problem = await findPortProblem({ ...frame, ...changed }, signal)
    assert.deepEqual(problem, { code: 'port_shared', message })
  }
})

test('a port without a listener, or whose listener closes the connection, is unreachable', async (t) => {
  const { frame } = await startEdge(t)
  const cutting = createServer((socket) => socket.on('error', () => undefined).resetAndDestroy())
  const port = await listen(t, cutting)
  const problem = { code: 'port_unreachable', message: `port ${port} does not respond` }
  for (const changed of [{ httpPort: port }, { httpsPort: port }]) {
    assert.deepEqual(await findPortProblem({ ...frame, ...changed }, signal), problem)
  }
  await new Promise((resolve) => cutting.close(resolve))
  assert.deepEqual(await findPortProblem({ ...frame, httpPort: port }, signal), problem)
})

test('a check ends with its signal', async (t) => {
  const { frame } = await startEdge(t)
  await assert.rejects(findPortProblem(frame, AbortSignal.abort(new Error('given up'))), /given up/)
})

test('without a registry the next edge runs the image of the present one', async (t) => {
  const { engine, owner } = await openDockerSite(t)
  const image = await haproxyImage()
  const spec = { image, generation: 1, environment: {}, arguments: ['-v'], isForeignUser: false }
  const directory = temporaryDirectory(t)
  await ensureEdgeContainer(engine, owner, { ...spec, directory }, t.signal)

  assert.equal(await findOtherImage({ engine, owner }), image)
})
