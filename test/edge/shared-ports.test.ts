// HAProxy binds with SO_REUSEPORT by default, and the kernel then divides connections between two of them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { edgeArgs, portOf } from '../support/edge/edge.ts'
import { startForeignHaproxy } from '../support/edge/foreign-haproxy.ts'
import { startEdge } from '../support/edge/running-edge.ts'

async function freePort(): Promise<number> {
  return portOf(await edgeArgs('host'), '--http-port')
}

const statuses = (ask: () => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: 20 }, async () => (await ask()).status))

test('another HAProxy cannot share a port of the running edge', async (t) => {
  const edge = await startEdge(t)
  for (const port of [edge.frame.httpPort, edge.frame.httpsPort]) {
    const foreign = await startForeignHaproxy(t, port)
    assert.equal(foreign.isRunning(), false)
  }
  const responses = await statuses(() => edge.ask('unknown.test'))
  assert.deepEqual(new Set(responses), new Set([404]))
})

for (const which of ['httpPort', 'httpsPort'] as const) {
  test(`an edge does not start while another HAProxy uses its ${which}`, async (t) => {
    const port = await freePort()
    const foreign = await startForeignHaproxy(t, port)
    assert.equal(foreign.isRunning(), true)
    await assert.rejects(startEdge(t, { [which]: port }), {
      code: 'edge_unavailable',
      message: new RegExp(`port ${port} is in use by another program`),
    })
  })
}

test('an edge on IPv6 does not start while another HAProxy uses its port on IPv4', async (t: TestContext) => {
  const port = await freePort()
  await startForeignHaproxy(t, port)
  await assert.rejects(startEdge(t, { httpPort: port, hasIpv6: true }), { code: 'edge_unavailable' })
})
