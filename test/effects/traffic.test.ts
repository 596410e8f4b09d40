// Numbers of requests and instances.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InstanceSample } from '../../src/docker/containers/instance-usage.ts'
import type { ContainerEvent } from '../../src/docker/engine/events.ts'
import type { AccessLine } from '../../src/edge/access-line.ts'
import { createInstanceEvents } from '../../src/effects/engine/instance-events.ts'
import { InstanceMetrics } from '../../src/effects/traffic/instance-metrics.ts'
import { TrafficNumbers } from '../../src/effects/traffic/traffic-numbers.ts'
import { accessLine } from '../support/http/access-line.ts'
import { silentLogger } from '../support/supervisor/supervision.ts'

function openNumbers() {
  const clock = { nowMs: Date.parse('2026-01-02T03:04:05.678Z') }
  const numbers = new TrafficNumbers(() => clock.nowMs)
  const ask = (changes: Partial<AccessLine>, service = 'shop') => numbers.record(accessLine(changes), service)
  return { clock, numbers, ask }
}

const sampleOf = (metrics: string, name: string) =>
  metrics
    .split('\n')
    .filter((line) => line.startsWith(name))
    .map((line) => line.slice(name.length))

test('a window counts all requests and errors, with percentiles within 2.5 %', () => {
  const { numbers, ask } = openNumbers()
  for (let ms = 1; ms <= 1000; ms++) ask({ durationMs: ms, status: ms > 990 ? 502 : 200 })

  const { p50_ms, p95_ms, p99_ms, ...counts } = numbers.of('svc-1')

  assert.deepEqual(counts, { window_seconds: 300, requests: 1000, errors: 10 })
  for (const [found, exact] of [
    [p50_ms, 500],
    [p95_ms, 950],
    [p99_ms, 990],
  ] as const) {
    assert.ok(Math.abs(found! - exact) <= exact * 0.026, `${found} for ${exact}`)
  }
})

test('short whole milliseconds are exact', () => {
  for (let ms = 1; ms <= 20; ms++) {
    const { numbers, ask } = openNumbers()
    ask({ durationMs: ms })
    assert.equal(numbers.of('svc-1').p50_ms, ms)
  }
})

test('requests older than five minutes do not count, and services are counted separately', () => {
  const { clock, numbers, ask } = openNumbers()
  ask({ status: 500 })
  clock.nowMs += 200_000
  ask({ status: 200, durationMs: 7 })
  ask({ serviceId: 'svc-2' }, 'other')
  const both = numbers.of('svc-1')
  clock.nowMs += 101_000

  const later = numbers.of('svc-1')
  clock.nowMs += 3_600_000
  ask({ durationMs: 7 })
  clock.nowMs += 300_000

  assert.deepEqual([both.requests, both.errors], [2, 1])
  assert.deepEqual([later.requests, later.errors], [1, 0])
  const nothing = { window_seconds: 300, requests: 0, errors: 0, p50_ms: null, p95_ms: null, p99_ms: null }
  assert.deepEqual(numbers.of('svc-1'), nothing)
  assert.deepEqual(numbers.of('svc-unknown'), nothing)
})

test('a WebSocket is a request without a latency', () => {
  const { numbers, ask } = openNumbers()
  ask({ status: 101, durationMs: 3_600_000 })
  ask({ durationMs: 5 })

  const { requests, p99_ms } = numbers.of('svc-1')

  assert.deepEqual([requests, p99_ms], [2, 5])
})

test('Prometheus gets a counter by status class and a histogram in seconds, by service', async () => {
  const { numbers, ask } = openNumbers()
  for (const status of [200, 204, 301, 404, 500, 503, 503, -1, 101]) ask({ status, durationMs: 40 })
  ask({ serviceId: 'svc-2', durationMs: 3000 }, 'other')

  const metrics = await numbers.metrics()

  assert.deepEqual(sampleOf(metrics, 'berth_http_requests_total{service="shop",').sort(), [
    'code="1xx"} 1',
    'code="2xx"} 2',
    'code="3xx"} 1',
    'code="4xx"} 1',
    'code="5xx"} 3',
    'code="none"} 1',
  ])
  assert.deepEqual(sampleOf(metrics, 'berth_http_request_duration_seconds_count'), [
    '{service="shop"} 8',
    '{service="other"} 1',
  ])
  const [below] = sampleOf(metrics, 'berth_http_request_duration_seconds_bucket{le="0.05",service="shop"}')
  assert.equal(below, ' 8')
})

test('a removed service leaves no numbers', async () => {
  const { numbers, ask } = openNumbers()
  ask({})
  ask({ serviceId: 'svc-2' }, 'other')

  numbers.forget('svc-1')

  const metrics = await numbers.metrics()
  assert.ok(!metrics.includes('shop') && metrics.includes('other'))
  assert.equal(numbers.of('svc-1').requests, 0)
})

const live = new Map([['srv-1', { live_deploy_id: 'dep-1' }]])

function instance(containerId: string, cpuSeconds: number | null, deployId = 'dep-1'): InstanceSample {
  const usage = cpuSeconds === null ? null : { cpuSeconds, memoryBytes: 100 }
  return { containerId, serviceId: 'srv-1', deployId, usage }
}

/** The results of the samples, in order; `elapse` makes the last sample old. */
function start(...results: (() => Promise<InstanceSample[]>)[]) {
  let count = 0
  const sampledIds = new Set<string>()
  const instanceEvents = createInstanceEvents()
  const metrics = new InstanceMetrics({
    instanceEvents,
    logger: silentLogger,
    instances: { isAskedToEnd: (name) => sampledIds.has(name) },
    services: { get: (id) => live.get(id) ?? null },
    sample: () => results[count++]!(),
    everyMs: 0,
  })
  const next = async () => {
    metrics.latest()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { metrics, next, asked: sampledIds, publish: instanceEvents.publish, sampled: () => count }
}

const found =
  (...samples: InstanceSample[]) =>
  () =>
    Promise.resolve(samples)

test('a scrape gets the last sample immediately, and concurrent scrapes share one', async () => {
  let finish: (samples: InstanceSample[]) => void = () => undefined
  const hanging = () => new Promise<InstanceSample[]>((resolve) => (finish = resolve))
  const { metrics, next, sampled } = start(found(instance('a', 1), instance('old', 1, 'dep-0')), hanging)
  assert.equal(metrics.latest(), null)
  await new Promise((resolve) => setImmediate(resolve))
  for (let count = 0; count < 100; count++) await next()
  assert.equal(sampled(), 2)
  const sum = { running: 1, memoryBytes: 200, largestBytes: 100 }
  assert.deepEqual(metrics.latest()?.byService.get('srv-1'), sum)
  finish([])
  await next()
  assert.equal(metrics.latest()?.byService.get('srv-1'), undefined)
})

test('an unavailable engine leaves the last sample, with its time', async () => {
  const away = () => Promise.reject(new Error('away'))
  const { metrics, next } = start(found(instance('a', 1)), away, away, away)
  await next()
  const before = metrics.latest()
  await next()
  await next()
  assert.ok(before)
  assert.deepEqual(metrics.latest(), before)
})

test('CPU time accumulates the use of containers, also across their replacement', async () => {
  const { metrics, next } = start(
    found(instance('a', 1000)),
    found(instance('a', 1003)),
    found(instance('a', null), instance('b', 2)),
    found(instance('a', 1004), instance('b', 5)),
    found(instance('b', 1)),
  )
  const seconds: number[] = []
  for (let count = 0; count < 5; count++) {
    await next()
    seconds.push(metrics.countersOf('srv-1').cpuSeconds)
  }
  assert.deepEqual(seconds, [0, 3, 5, 9, 10])
})

test('an unexpected end of a live instance is counted, a stop and another version are not', () => {
  const { metrics, asked: sampledIds, publish } = start()
  const event = (name: string, deployId: string, action: ContainerEvent['action'], kind = 'deploy') =>
    publish({
      type: 'container',
      action,
      name,
      kind,
      deployId,
      serviceId: 'srv-1',
      index: 0,
      exitCode: 1,
      timeNano: 0,
    })
  event('a', 'dep-1', 'die')
  event('a', 'dep-1', 'start')
  event('a', 'dep-1', 'die')
  event('old', 'dep-0', 'die')
  event('job', 'dep-1', 'die', 'job')
  sampledIds.add('b')
  event('b', 'dep-1', 'die')
  assert.equal(metrics.countersOf('srv-1').restarts, 2)
  metrics.close()
  event('a', 'dep-1', 'die')
  assert.equal(metrics.countersOf('srv-1').restarts, 2)
})
