// The numbers of the server in the text format of Prometheus.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrafficNumbers } from '../../src/effects/traffic-numbers.ts'
import { accessLine } from '../support/access-line.ts'
import { startApi } from '../support/http-context.ts'

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

test('metrics have services by state, deploys that are not over, and what the edge counted', async (t) => {
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

test('metrics are there without an edge', async (t) => {
  const { call } = await startApi(t, { traffic: null })

  const samples = parseMetrics((await call('GET', '/metrics')).text)

  assert.equal(samples['berth_services{state="live"}'], 0)
})

test('metrics need a token or a session, and a token in the query will do', async (t) => {
  const { call, url } = await startApi(t)

  const refused = await call('GET', '/metrics', { token: null })
  const byQuery = await fetch(`${url}/metrics?access_token=bth_test`)

  assert.deepEqual([refused.status, refused.body.code, byQuery.status], [401, 'unauthorized', 200])
})
