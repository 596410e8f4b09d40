// Whether requests to the public ports reach this edge.
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Frame } from '../../../src/edge/frame.ts'
import { findPortProblem } from '../../../src/effects/edge/public-ports.ts'
import { startEdge } from '../../support/edge/running-edge.ts'

const { signal } = new AbortController()

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
