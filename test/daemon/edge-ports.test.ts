// The public ports belong to one edge: another server on the same host cannot take a share of its requests.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startDaemon } from '../support/daemon.ts'
import { endHostEdge, portOf } from '../support/edge.ts'
import { edgeApp } from '../support/edge-app.ts'
import { startLoad } from '../support/edge-load.ts'
import { openEdgeSite } from '../support/edge-site.ts'
import { followEvents } from '../support/edge-streams.ts'
import { fileScope } from '../support/scope.ts'
import { until } from '../support/service.ts'
import { createService } from '../support/suite.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'host')
const service = await createService(scope, site.daemon.api, await edgeApp('one'), { drain_seconds: 2 })
await site.untilAnswers(service, 'one')

/** Statuses of requests on connections of their own. */
async function statuses(): Promise<Set<number>> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => site.page(service)))
  return new Set(answers.map(({ status }) => status))
}

for (const kind of ['host', 'container'] as const) {
  test(`a second server with the same ports gets no request, and says why (${kind})`, async (t) => {
    const ports = ['--http-port', '--https-port'] as const
    const args = ports.flatMap((name) => [name, String(portOf(site.args, name))])
    const second = await startDaemon(t, { args: ['--edge', kind, ...args] })
    t.after(() => endHostEdge(second.dataDir))

    const edge = await until('a reason', async () => {
      const found = await second.api.get('/edge')
      return found.error !== null && found
    })

    assert.match(edge.error, new RegExp(`port ${site.port} is taken by another program`))
    assert.equal(edge.serving_since, null)
    assert.deepEqual(await statuses(), new Set([200]))
    const first = await site.daemon.api.get('/edge')
    assert.deepEqual([first.status, first.error], ['serving', null])
  })
}

/** Replaces the edge while the former one still has a connection. */
async function upgrade(t: TestContext): Promise<void> {
  const events = await followEvents(t, site.placeOf(service))
  const before = await site.daemon.api.get('/edge')
  await site.daemon.api.post('/edge/upgrade', { force: true })
  await until('the upgrade to end', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.status === 'serving' && edge.upgraded_at !== before.upgraded_at
  })
  assert.equal(events.ending, null)
}

test('an edge that dies while a former one finishes connections serves every request again', async (t) => {
  await upgrade(t)
  const before = await site.daemon.api.get('/edge')
  endHostEdge(site.daemon.dataDir, 2)

  await until('the edge to serve again', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.status === 'serving' && edge.serving_since !== before.serving_since
  })

  const load = startLoad(t, { ...site.placeOf(service), inFlight: 10 })
  await load.round()
  await load.stop()
  assert.deepEqual(load.failures, [])
  assert.deepEqual(await statuses(), new Set([200]))
})
