// Resource usage of instances in scrapes: sampled in the background, whatever the engine does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InstanceSample } from '../../../src/docker/containers/instance-usage.ts'
import type { ContainerEvent } from '../../../src/docker/engine/events.ts'
import { createInstanceEvents } from '../../../src/effects/engine/instance-events.ts'
import { InstanceMetrics } from '../../../src/effects/traffic/instance-metrics.ts'
import { silentLogger } from '../../support/supervisor/supervision.ts'

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
  assert.deepEqual(metrics.latest()?.byService.get('srv-1'), { running: 1, memoryBytes: 200 })
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
