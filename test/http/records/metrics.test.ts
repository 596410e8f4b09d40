// The metrics of the server in the text format of Prometheus.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Gauge, Registry } from 'prom-client'
import { TrafficNumbers } from '../../../src/effects/traffic/traffic-numbers.ts'
import { family } from '../../../src/http/records/metrics.ts'
import { accessLine } from '../../support/http/access-line.ts'
import { startApi } from '../../support/http/http-context.ts'

const sample = /^([a-z_]+)(\{(?:[a-z]+="[^"\\\n]*",?)+\})? (-?[\d.e+-]+|\+Inf|NaN)$/

/** Samples by name and labels; fails at what is no line of the format, and at a sample without its type. */
function parseMetrics(text: string): Record<string, number> {
  const samples: Record<string, number> = {}
  const types = new Map<string, string>()
  assert.ok(text.endsWith('\n'))
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line)
    if (comment?.[1] === 'TYPE') types.set(comment[2]!, comment[3]!)
    if (comment) continue
    const [, name = '', labels = '', value] = sample.exec(line) ?? assert.fail(`not a sample: ${line}`)
    assert.ok(types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram', line)
    assert.ok(!(name + labels in samples), `twice: ${line}`)
    samples[name + labels] = Number(value)
  }
  return samples
}

test('a family has the format of prom-client', async () => {
  const shops = [
    ['shop', 3.25],
    ['web', 1e21],
    ['api', 0],
  ] as const
  const families: Parameters<typeof family>[] = [
    ['one', 'Without a label.', [[null, 1.5e-7]]],
    ['many', 'With a label.', shops, 'service'],
    ['none', 'Without a sample.', [], 'host'],
    ['all_total', 'A counter.', [['shop', 12_345_678]], 'service', 'counter'],
  ]
  const registry = new Registry()
  for (const [name, help, samples, label = '', type] of families) {
    const options = { name, help, labelNames: label ? [label] : [], registers: [registry] }
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options)
    for (const [value, amount] of samples) metric.inc(value === null ? {} : { [label]: value }, amount)
  }

  assert.equal(families.map((each) => family(...each)).join('\n'), await registry.metrics())
})

test('metrics include services by state, active deploys, and the counts of the edge', async (t) => {
  const traffic = new TrafficNumbers()
  const api = await startApi(t, { traffic })
  await api.call('POST', '/api/v1/services', { body: { name: 'idle' } })
  await api.call('POST', '/api/v1/services', { body: { name: 'shop', repo_url: 'https://git.test/a/b' } })
  traffic.record(accessLine({ status: 503, durationMs: 70 }), 'shop')

  const { status, headers, text } = await api.call('GET', '/metrics')

  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const samples = parseMetrics(text)
  assert.equal(samples['berth_info{version="0.0.0-test"}'], 1)
  assert.equal(samples['berth_builder_hangs{builder="buildkit"}'], 0)
  assert.equal(samples['berth_services{state="not_deployed"}'], 1)
  assert.equal(samples['berth_services{state="deploying"}'], 1)
  assert.equal(samples['berth_services{state="live"}'], 0)
  assert.equal(samples['berth_deploys{status="queued"}'], 1)
  assert.equal(samples['berth_deploys{status="running"}'], 0)
  assert.equal(samples['berth_http_requests_total{service="shop",code="5xx"}'], 1)
  assert.equal(samples['berth_http_request_duration_seconds_bucket{le="0.1",service="shop"}'], 1)
  assert.equal(samples['berth_http_request_duration_seconds_bucket{le="0.05",service="shop"}'], 0)
})

test('a service has its instances, restarts, memory and CPU, and the time of the sample', async (t) => {
  const api = await startApi(t)
  const { body } = await api.call('POST', '/api/v1/services', { body: { name: 'shop', instances: 2 } })
  await api.call('POST', '/api/v1/services', {
    body: { name: 'nightly', type: 'cron_job', schedule: '0 3 * * *', repo_url: 'https://git.test/a/b' },
  })
  const id = String(body.id)
  api.context.observe.counters = () => ({ restarts: 3, cpuSeconds: 1.5 })
  const metrics = async () => parseMetrics((await api.call('GET', '/metrics')).text)
  const before = await metrics()
  assert.equal(before['berth_service_instances_wanted{service="shop"}'], 0)
  assert.ok(!('berth_service_instances_running{service="shop"}' in before))
  await api.storage.services.update(id, (row) => ({ ...row, live_deploy_id: 'dep-1', degraded: true }))
  const usage = { running: 1, memoryBytes: 4096, largestBytes: 0 }
  api.context.observe.usage = () => ({ at: 1_700_000_000_500, byService: new Map([[id, usage]]) })

  const samples = await metrics()

  const shop = Object.entries(samples).flatMap(([key, value]) => {
    const [, name] = /^berth_service_(\w+)\{service="shop"\}$/.exec(key) ?? []
    return name ? [[name, value]] : []
  })
  assert.deepEqual(Object.fromEntries(shop), {
    instances_wanted: 2,
    instances_running: 1,
    degraded: 1,
    restarts_total: 3,
    memory_bytes: 4096,
    cpu_seconds_total: 1.5,
  })
  assert.equal(samples.berth_instances_sample_timestamp_seconds, 1_700_000_000.5)
  assert.ok(!Object.keys(samples).some((key) => key.includes('nightly')))
})

test('the edge is up and reachable, up and unreachable, or down', async (t) => {
  const api = await startApi(t)
  const read = api.storage.actors.record.bind(api.storage.actors)
  const edge = { status: 'serving', error_code: null, version: '3.2.1', available: null }
  const withEdge = async (changed: object) => {
    api.storage.actors.record = (id) => (id === 'edge' ? ({ ...edge, ...changed } as never) : read(id))
    const samples = parseMetrics((await api.call('GET', '/metrics')).text)
    return [samples.berth_edge_up, samples.berth_edge_reachable]
  }
  assert.deepEqual(await withEdge({}), [1, 1])
  assert.deepEqual(await withEdge({ status: 'upgrading' }), [1, 1])
  assert.deepEqual(await withEdge({ error_code: 'port_shared' }), [1, 0])
  assert.deepEqual(await withEdge({ status: 'waiting', error_code: 'edge_unavailable' }), [0, 0])
  assert.deepEqual(await withEdge({ status: 'off' }), [undefined, undefined])
})

test('datastores have their state and last successful backup, certificates their expiry', async (t) => {
  const api = await startApi(t)
  const records: Record<string, object> = {
    'db-1': { id: 'db-1', name: 'main', status: 'available', backup_schedule: '0 3 * * *' },
    'db-2': { id: 'db-2', name: 'cache', status: 'failed', backup_schedule: null },
    'crt-1': { host: 'a.test', not_after: '2026-01-01T00:00:00.000Z' },
    'crt-2': { host: 'b.test', not_after: null },
  }
  const backups = [
    { status: 'failed', finished_at: '2026-01-03T00:00:00.000Z' },
    { status: 'good', finished_at: '2026-01-02T00:00:00.000Z' },
    { status: 'good', finished_at: '2026-01-01T00:00:00.000Z' },
  ]
  api.storage.datastores.list = () => [{ id: 'db-1' }, { id: 'db-2' }] as never
  const { actors } = api.storage
  actors.record = (id) => (records[id] ?? null) as never
  actors.list = (kind, id) => (kind === 'backup' && id === 'db-1' ? backups : []) as never
  actors.active = (kind) => (kind === 'certificate' ? [{ id: 'crt-1' }, { id: 'crt-2' }] : []) as never

  const samples = parseMetrics((await api.call('GET', '/metrics')).text)

  const found = Object.entries(samples).filter(([key]) => /^berth_(datastore|certificate)_/.test(key))
  assert.deepEqual(Object.fromEntries(found), {
    'berth_datastore_available{datastore="main"}': 1,
    'berth_datastore_available{datastore="cache"}': 0,
    'berth_datastore_backup_scheduled{datastore="main"}': 1,
    'berth_datastore_backup_scheduled{datastore="cache"}': 0,
    'berth_datastore_backup_timestamp_seconds{datastore="main"}': Date.parse('2026-01-02') / 1000,
    'berth_certificate_expiry_timestamp_seconds{host="a.test"}': Date.parse('2026-01-01') / 1000,
  })
})
