// Supervision of a live deploy: its duty, the health of its instances, and what wakes it.
import assert, { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InstanceState } from '../../../../src/docker/containers/instances.ts'
import { createHealth } from '../../../../src/effects/deploy/live/health.ts'
import { dutyOf, instancesFor, keepInstances } from '../../../../src/effects/deploy/live/upkeep.ts'
import { createWakeSignal } from '../../../../src/effects/deploy/live/wake-signal.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { createInstanceEvents } from '../../../../src/effects/engine/instance-events.ts'
import { Failure } from '../../../../src/errors.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { until } from '../../../support/daemon/service.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

interface FakeEngine {
  isAway: boolean
  refusesStop: boolean
  instances: { name: string; index: number; deployId: string; state: string; restart: string }[]
  /** Queries while the engine was unavailable. */
  refusals: number
  /** When the engine had to stop an instance. */
  stops: number[]
  stopMs: number
}

const oneInstance = (): FakeEngine => ({
  isAway: false,
  refusesStop: false,
  instances: [{ name: 'i0', index: 0, deployId: 'dep-1', state: 'running', restart: 'unless-stopped' }],
  refusals: 0,
  stops: [],
  stopMs: 0,
})

const instancesOf = (engine: FakeEngine) => ({
  async list({ kind }: { kind?: string }) {
    if (engine.isAway) {
      engine.refusals += 1
      throw new Failure('docker_unavailable', 'the engine is unavailable')
    }
    return kind === undefined ? structuredClone(engine.instances) : []
  },
  async stop() {
    engine.stops.push(performance.now())
    await sleep(engine.stopMs)
    if (engine.refusesStop) throw new Failure('docker_error', 'refused')
  },
  remove: async () => void engine.instances.pop(),
})

const storageOf = (service: () => ServiceRow, listen: (listener: () => void) => void) => ({
  directory: '/nowhere',
  changes: {
    subscribe(listener: (change: object) => void) {
      listen(() => listener({ kind: 'service', id: 'svc-1' }))
      return () => undefined
    },
  },
  services: { get: service },
  logs: { isEnded: () => true },
  actors: {
    record: () => ({ port: null }),
    get: () => null,
    active: () => [{ id: 'dep-1' }],
    parked: () => [],
  },
  releases: { get: () => null },
  addresses: { get: () => null },
  upstreams: { list: () => [], setState: async () => false, remove: async () => false },
})

/** Upkeep of a live worker with one instance, on an engine that a test can make unavailable. */
function startUpkeep(t: TestContext) {
  const engine = oneInstance()
  const changes = { type: 'background_worker', live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1' } as const
  let service = serviceRow({ id: 'svc-1', ...changes })
  let notifyChange = () => {}
  let rounds = 0
  const countRound = () => {
    rounds += 1
  }
  let restoreEngine = () => {}
  const isBack = new Promise<void>((resolve) => {
    restoreEngine = resolve
  })
  const ports = {
    logger: { warn() {} },
    engine: { call: async () => [] },
    owner: { prefix: 'berth' },
    settings: { keepImages: 5 },
    degradedReasons: new Map(),
    engineReady: () => isBack,
    actors: { send: async () => countRound() },
    logCollector: { drained: async () => undefined },
    instances: instancesOf(engine),
    instanceEvents: { subscribe: () => () => undefined },
    edge: { isOff: false, applyBestEffort: async () => undefined },
    storage: storageOf(
      () => service,
      (listener) => {
        notifyChange = listener
      },
    ),
  } as unknown as DeployPorts
  const over = new AbortController()
  const phase = new DeployPhase(ports, { id: 'dep-1', serviceId: 'svc-1' }, over.signal)
  const ended = keepInstances(phase, { image: 'i' })
  let failure: unknown = null
  ended.catch((error: unknown) => {
    if (!over.signal.aborted) failure = error
  })
  t.after(() => over.abort())
  const change = (changed: Partial<ServiceRow>) => {
    service = { ...service, ...changed }
    notifyChange()
  }
  return { engine, change, ended, rounds: () => rounds, failure: () => failure, restoreEngine }
}

test('a service that is suspended while the engine is down is stopped afterwards', async (t) => {
  const { engine, change, rounds, failure, restoreEngine } = startUpkeep(t)
  await until('the first round', async () => rounds() > 0)
  engine.isAway = true
  change({})
  await until('a round that waits for the engine', async () => engine.refusals > 0)
  engine.instances[0]!.state = 'exited'
  change({ suspended: true })
  engine.isAway = false
  restoreEngine()

  await until('the end of the instance', async () => engine.instances.length === 0)
  assert.equal(failure(), null, 'nothing tried to start an instance')
})

test('an engine that refuses to stop an instance is retried after a pause', async (t) => {
  const { engine, change } = startUpkeep(t)
  engine.refusesStop = true
  change({ suspended: true })

  await until('a third attempt', async () => engine.stops.length >= 3)
  const pauses = engine.stops.slice(1).map((at, index) => at - engine.stops[index]!)
  assert.ok(
    pauses.every((ms) => ms >= 900),
    `pauses of ${pauses.map(Math.round)} ms`,
  )
})

test('the time to drain counts from the new version, not from the end of a scale-down', async (t) => {
  const { engine, change, ended } = startUpkeep(t)
  engine.stopMs = 1000
  change({ suspended: true })
  await until('the stop', async () => engine.stops.length > 0)

  change({ live_deploy_id: 'dep-2' })

  const output = await ended
  assert.ok(Date.now() - Date.parse(output.at) >= 500, output.at)
})

const live = { live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1', instances: 3 }

test('the service determines the duty, and the duty the number of instances', async (t) => {
  const storage = await temporaryStorage(t)
  const look = (changes: Partial<ServiceRow>) => {
    const row = serviceRow({ ...live, ...changes })
    const duty = dutyOf({ storage }, 'dep-1', row)
    return [duty, instancesFor(duty, row)]
  }
  deepEqual(look({}), ['serving', 3])
  deepEqual(look({ desired_deploy_id: 'dep-2' }), ['outgoing', 3])
  deepEqual(look({ suspended: true, desired_deploy_id: 'dep-2' }), ['suspended', 0])
  deepEqual(look({ type: 'cron_job', suspended: true }), ['scheduled', 0])
  deepEqual(look({ live_deploy_id: 'dep-2' }), ['over', 0])
  deepEqual(look({ deleting: true }), ['over', 0])
  equal(dutyOf({ storage }, 'dep-1', null), 'over')
})

test('a deploy yields only if both deploys use the disk', async (t) => {
  const storage = await temporaryStorage(t)
  const freeze = (id: string, disk_mount_path: string | null) =>
    storage.releases.freeze(id, () => ({
      settings: { ...serviceRow(), disk_mount_path },
      env: [],
      resolved: null,
    }))
  const row = serviceRow({ ...live, desired_deploy_id: 'dep-2' })
  await freeze('dep-1', '/data')
  equal(dutyOf({ storage }, 'dep-1', row), 'outgoing')
  await freeze('dep-2', '/data')
  equal(dutyOf({ storage }, 'dep-1', row), 'yielding')
  equal(instancesFor('yielding', row), 0)
})

async function openSignal(t: TestContext) {
  const storage = await temporaryStorage(t)
  await storage.commit((commit) => storage.services.insert(commit, serviceRow()))
  const host = { storage, instanceEvents: createInstanceEvents() }
  const signal = createWakeSignal(host, 'dep-1', 'svc-1', () => undefined)
  t.after(() => signal.close())
  /** Whether a wait ends before its time. */
  const isWoken = async (withinMs: number) => {
    const began = performance.now()
    await signal.next(withinMs, t.signal)
    return performance.now() - began < withinMs / 2
  }
  return { storage, signal, isWoken }
}

test('events before the wait end it immediately, and only one wait', async (t) => {
  const { signal, isWoken } = await openSignal(t)
  signal.wake()
  signal.wake()
  equal(await isWoken(10_000), true)
  equal(await isWoken(100), false)
})

test('a change of the service ends a wait', async (t) => {
  const { storage, isWoken } = await openSignal(t)
  const waiting = isWoken(10_000)
  await storage.services.update('svc-1', (row) => ({ ...row, instances: 2 }))
  equal(await waiting, true)
  equal(await isWoken(100), false)
})

const instances = (...states: InstanceState['state'][]) => states.map((state) => ({ state }) as InstanceState)
const loop = 'instances ended 3 times within 5 minutes, and are restarted'

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

test('three exits within five minutes are a crash loop, even if each one was followed by a start', () => {
  const { clock, health } = healthAt()
  const responses = [0, 100_000, 299_999].map((ms) => {
    clock.ms = ms
    health.sawExit('web-0')
    return health.findShortfall(instances('running'), 1)
  })
  assert.deepEqual(responses, [null, null, loop])
})

test('exits older than five minutes do not count', () => {
  const { clock, health } = healthAt()
  for (const ms of [0, 150_000, 300_000]) {
    clock.ms = ms
    health.sawExit('web-0')
  }
  assert.equal(health.findShortfall(instances('running'), 1), null)
})

test('a crash loop ends when five minutes have passed without a third exit', () => {
  const { clock, health } = healthAt()
  for (let exit = 0; exit < 3; exit++) health.sawExit('web-0')
  assert.equal(health.findShortfall(instances('running'), 1), loop)
  clock.ms = 300_000
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
