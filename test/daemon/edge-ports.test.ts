// The public ports belong to one edge: another server on the same host cannot take a share of its requests.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { endHostEdge, portOf } from '../support/edge/edge.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'host')
const service = await createService(scope, site.daemon.api, await edgeApp('one'), { drain_seconds: 2 })
await site.untilAnswers(service, 'one')

/** Statuses of requests on separate connections. */
async function statuses(): Promise<Set<number>> {
  const responses = await Promise.all(Array.from({ length: 20 }, () => site.page(service)))
  return new Set(responses.map(({ status }) => status))
}

for (const kind of ['host', 'container'] as const) {
  const testKind = kind === 'host' ? test : long
  testKind(
    `a second server with the same ports gets no request, and reports why (${kind})`,
    async (t: TestContext) => {
      const ports = ['--http-port', '--https-port'] as const
      const args = ports.flatMap((name) => [name, String(portOf(site.args, name))])
      const second = await startDaemon(t, { args: ['--edge', kind, ...args] })
      t.after(() => endHostEdge(second.dataDir))

      const edge = await until('a reason', async () => {
        const found = await second.api.get('/edge')
        return found.error !== null && found
      })

      assert.match(edge.error, new RegExp(`port ${site.port} is in use by another program`))
      assert.equal(edge.serving_since, null)
      const lines = second.log.filter((line) => line.includes('the edge does not start'))
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).reason),
        [edge.error],
      )
      assert.deepEqual(await statuses(), new Set([200]))
      const first = await site.daemon.api.get('/edge')
      assert.deepEqual([first.status, first.error], ['serving', null])
    },
  )
}
