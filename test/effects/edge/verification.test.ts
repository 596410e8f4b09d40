// The verification request that decides whether an instance may serve.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openEdgeFiles } from '../../../src/edge/files.ts'
import { verifyUpstream } from '../../../src/effects/edge/haproxy-edge.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const wanted = { pool: 1, slot: 2, host: 'shop.localhost', healthPath: '/healthz' }
const driver = { countOpen: async () => new Map<string, number>() }

/** A server at the socket of the edge. */
async function answering(t: TestContext, listener: RequestListener) {
  const directory = temporaryDirectory(t)
  const edgeFiles = { ...openEdgeFiles(directory), verifySocket: join(directory, 'verify.sock') }
  const server = createServer(listener).listen(edgeFiles.verifySocket)
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  await once(server, 'listening')
  return { place: edgeFiles, server }
}

test('an instance is verified by a successful response from its slot', async (t) => {
  const { place: edgeFiles } = await answering(t, ({ headers, url }, response) => {
    assert.deepEqual([headers.host, url], ['shop.localhost', '/healthz'])
    response.setHeader('x-berth-upstream', headers['x-berth-upstream']!).end()
  })
  const answer = await verifyUpstream(edgeFiles, driver, wanted, new AbortController().signal)
  assert.deepEqual(answer, { status: 200 })
})

test('without a health path an instance that answers 500 is verified, and its status is known', async (t) => {
  const { place: edgeFiles } = await answering(t, ({ headers }, response) => {
    response.writeHead(500, { 'x-berth-upstream': headers['x-berth-upstream'] }).end()
  })
  const anyAnswer = { ...wanted, healthPath: null }
  const answer = await verifyUpstream(edgeFiles, driver, anyAnswer, new AbortController().signal)
  assert.deepEqual(answer, { status: 500 })
})

test('a response from another slot does not verify the instance', async (t) => {
  const { place: edgeFiles } = await answering(t, (_, response) => {
    response.setHeader('x-berth-upstream', 's1').end()
  })
  const problem = await verifyUpstream(edgeFiles, driver, wanted, new AbortController().signal)
  assert.deepEqual(problem, { text: '200', isFromInstance: false })
})

test('a response of the instance that is no success does not verify it', async (t) => {
  const { place: edgeFiles } = await answering(t, ({ headers }, response) => {
    response.writeHead(500, { 'x-berth-upstream': headers['x-berth-upstream'] }).end()
  })
  const problem = await verifyUpstream(edgeFiles, driver, wanted, new AbortController().signal)
  assert.deepEqual(problem, { text: '500', isFromInstance: true })
})

test('an abandoned verification ignores a late response', async (t) => {
  const { place: edgeFiles, server } = await answering(t, () => undefined)
  const controller = new AbortController()
  const verifying = verifyUpstream(edgeFiles, driver, wanted, controller.signal)
  const [, response] = await once(server, 'request')

  controller.abort(new Error('canceled'))
  response.setHeader('x-berth-upstream', 's2').end()

  await assert.rejects(verifying, { message: 'canceled' })
})
