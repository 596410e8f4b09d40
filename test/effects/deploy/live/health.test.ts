// When a live deploy is degraded: a shortage that lasts, or a crash loop, but not every restart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InstanceState } from '../../../../src/docker/containers/instances.ts'
import { createHealth } from '../../../../src/effects/deploy/live/health.ts'

const instances = (...states: InstanceState['state'][]) => states.map((state) => ({ state }) as InstanceState)
const loop = 'instances ended 3 times within a minute, and are restarted'

function healthAt(startMs = 0) {
  const clock = { ms: startMs }
  return { clock, health: createHealth(() => clock.ms) }
}

test('at least the wanted number of instances is healthy', () => {
  const { health } = healthAt()
  const rounds = [instances('running'), instances('running', 'running')]
  assert.deepEqual(
    rounds.map((found) => health.findShortfall(found, 1)),
    [null, null],
  )
})

test('an instance missing for one round is a restart, for two rounds a shortage', () => {
  const { health } = healthAt()
  const rounds = [instances('running', 'exited'), instances('running', 'restarting'), instances('running')]
  const responses = rounds.map((found) => health.findShortfall(found, 2))
  assert.deepEqual(responses, [null, '1 of 2 instances run', '1 of 2 instances run'])
  assert.equal(health.findShortfall(instances('running', 'running'), 2), null)
  assert.equal(health.findShortfall(instances('running'), 2), null, 'a shortage counts from the start again')
})

test('three exits within a minute are a crash loop, even if each one was followed by a start', () => {
  const { clock, health } = healthAt()
  const responses = [0, 20_000, 59_999].map((ms) => {
    clock.ms = ms
    health.sawExit('web-0')
    return health.findShortfall(instances('running'), 1)
  })
  assert.deepEqual(responses, [null, null, loop])
})

test('exits older than a minute do not count', () => {
  const { clock, health } = healthAt()
  for (const ms of [0, 30_000, 60_000]) {
    clock.ms = ms
    health.sawExit('web-0')
  }
  assert.equal(health.findShortfall(instances('running'), 1), null)
})

test('a crash loop ends when a minute has passed without a third exit', () => {
  const { clock, health } = healthAt()
  for (let exit = 0; exit < 3; exit++) health.sawExit('web-0')
  assert.equal(health.findShortfall(instances('running'), 1), loop)
  clock.ms = 60_000
  assert.equal(health.findShortfall(instances('running'), 1), null)
})

test('requested exits do not count until the instance is to run again', () => {
  const { health } = healthAt()
  health.expectExit('web-1')
  for (let exit = 0; exit < 5; exit++) health.sawExit('web-1')
  assert.equal(health.findShortfall(instances('running'), 1), null)
  health.expectRunning('web-1')
  for (let exit = 0; exit < 3; exit++) health.sawExit('web-1')
  assert.equal(health.findShortfall(instances('running'), 1), loop)
})

test('a suspended service is never degraded', () => {
  const { health } = healthAt()
  for (let exit = 0; exit < 5; exit++) health.sawExit('web-0')
  assert.deepEqual([health.findShortfall([], 0), health.findShortfall([], 0)], [null, null])
})

test('an instance without requests counts as a shortage only while that lasts', () => {
  let now = 0
  const health = createHealth(() => now)
  const shortfallAt = (at: number, reason: string | null) => {
    now = at
    health.sawUnready(reason)
    return health.findShortfall(instances('running'), 1)
  }
  assert.equal(shortfallAt(0, '503'), null)
  assert.equal(shortfallAt(4999, '404'), null)
  assert.equal(shortfallAt(5000, '404'), '404')
  assert.equal(shortfallAt(6000, null), null)
  assert.equal(shortfallAt(7000, '503'), null)
})

test('while no instances are wanted none is unready', () => {
  let now = 0
  const health = createHealth(() => now)
  health.sawUnready('503')
  now = 5000
  assert.equal(health.findShortfall(instances('running'), 1), '503')
  assert.equal(health.findShortfall([], 0), null)
})
