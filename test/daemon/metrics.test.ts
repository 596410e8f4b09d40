// The metrics of a running server: a service's resource usage, its restarts, and the edge's counters.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'host')
const service = await createService(scope, site.daemon.api, await edgeApp('one'))
await site.untilAnswers(service, 'one')

async function scrape(): Promise<Map<string, number>> {
  const token = readFileSync(join(site.daemon.dataDir, 'api_token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${new URL(site.daemon.api.url).origin}/metrics`, { headers })
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, key = '', value] = /^(.*) (\S+)$/.exec(line) ?? []
      return [key, Number(value)] as const
    }),
  )
}

const ofService = (name: string) => `${name}{service="${service.name}"}`

test('the metrics of a live service have its instances, memory, CPU and edge traffic', async () => {
  const first = await until('a sample', async () => {
    const samples = await scrape()
    return samples.has(ofService('berth_service_memory_bytes')) && samples
  })

  assert.equal(first.get(ofService('berth_service_instances_wanted')), 1)
  assert.equal(first.get(ofService('berth_service_instances_running')), 1)
  assert.equal(first.get(ofService('berth_service_degraded')), 0)
  assert.equal(first.get(ofService('berth_service_restarts_total')), 0)
  const memory = first.get(ofService('berth_service_memory_bytes'))!
  assert.ok(memory > 1024 * 1024 && memory < 1024 ** 3, String(memory))
  assert.ok(Date.now() / 1000 - first.get('berth_instances_sample_timestamp_seconds')! < 300)
  assert.deepEqual([first.get('berth_edge_up'), first.get('berth_edge_reachable')], [1, 1])
  await until('CPU time', async () => {
    await site.page(service)
    return (await scrape()).get(ofService('berth_service_cpu_seconds_total'))! > 0
  })
  await until('bytes of responses', async () => {
    return ((await scrape()).get(ofService('berth_http_response_bytes_total')) ?? 0) > 0
  })
})
