// Rounds of upkeep with an engine that is unavailable or refuses, without Docker.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keepInstances } from '../../../../src/effects/deploy/live/upkeep.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { DeployRun } from '../../../../src/effects/deploy/run.ts'
import { Failure } from '../../../../src/errors.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { until } from '../../../support/daemon/service.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'

interface FakeEngine {
  isAway: boolean
  refusesStop: boolean
  instances: { name: string; index: number; deployId: string; state: string; restart: string }[]
  /** Queries while the engine was unavailable. */
  refusals: number
  /** When the engine had to stop an instance. */
  stops: number[]
}

const oneInstance = (): FakeEngine => ({
  isAway: false,
  refusesStop: false,
  instances: [{ name: 'i0', index: 0, deployId: 'dep-1', state: 'running', restart: 'unless-stopped' }],
  refusals: 0,
  stops: [],
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
  const run = new DeployRun(ports, { id: 'dep-1', serviceId: 'svc-1' }, over.signal)
  const ended = keepInstances(run, { image: 'i' })
  let failure: unknown = null
  ended.catch((error: unknown) => {
    if (!over.signal.aborted) failure = error
  })
  t.after(() => over.abort())
  const change = (changed: Partial<ServiceRow>) => {
    service = { ...service, ...changed }
    notifyChange()
  }
  return { engine, change, rounds: () => rounds, failure: () => failure, restoreEngine }
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
