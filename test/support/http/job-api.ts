// The API with real job-run actors. Nothing runs until the test starts it.
// A run is canceled when its service is suspended or deleted, as in the daemon.
import type { TestContext } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import type { JobRun } from '../../../src/api/job.ts'
import type { Service } from '../../../src/api/service.ts'
import { cancelWithService } from '../../../src/effects/job-run/turn.ts'
import { type ActorLogPorts, openActorLog } from '../../../src/effects/logs/actor-log.ts'
import { Failure } from '../../../src/errors.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { eventually, instant, silentLogger } from '../supervisor/supervision.ts'
import { joinActors, startChecked } from './checked-api.ts'
import type { RequestOptions } from './http-context.ts'

interface Input {
  id: string
  serviceId: string
  outcome?: string
}

export async function startJobs(t: TestContext) {
  let supervisor: Supervisor | null = null
  // Registered first, so that it runs before the store closes: the actors write to the store.
  t.after(() => supervisor?.stop(1000))
  const api = await startChecked(t)
  const world = createWorld({ storage: api.storage, logger: silentLogger })
  supervisor = new Supervisor({
    storage: api.storage,
    catalogue: { 'job-run': catalogue['job-run'] },
    logger: silentLogger,
  })
  supervisor.provide({ 'job-run': world.effects })
  joinActors(api.context, supervisor, 'job-run', 'job-')
  const run = (id: string) => api.storage.actors.record(id) as JobRun | null
  const reached = (id: string, status: string) =>
    eventually(`${id} is ${status}`, () => run(id)?.status === status)
  return {
    ...api,
    run,
    reached,
    /** Stores a service with a live version. */
    async live(body: { name: string } & Record<string, unknown>): Promise<Service> {
      const { latest_deploy } = await api.create({ image: 'localhost/app:1', ...body })
      await api.setDeploy(latest_deploy!.id, { status: 'live', image: `berth/${body.name}:1` })
      return api.get(body.name)
    },
    ask: async (name: string, body?: object, requested: RequestOptions = {}) =>
      (await api.call('POST', `/services/${name}/jobs`, body, requested)).body as unknown as JobRun,
    /** Grants the run its turn, so that it starts. */
    async starts(id: string): Promise<void> {
      world.let(id)
      await reached(id, 'running')
    },
    async ends(id: string, exitCode: number): Promise<void> {
      await eventually(`${id} is followed`, () => world.isFollowed(id))
      world.end(id, exitCode)
      await eventually(`${id} is over`, () => api.storage.actors.get(id)?.final === true)
    },
  }
}

/** The pending effects of a run: its turn and its end. */
function createWorld(ports: ActorLogPorts) {
  const turns = new Map<string, (exitCode: number) => void>()
  const follows = new Map<string, (exitCode: number) => void>()
  const held = (places: Map<string, (exitCode: number) => void>, id: string, signal: AbortSignal) =>
    new Promise<number>((resolve, reject) => {
      places.set(id, resolve)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const effects = {
    awaitTurn: ({ id, serviceId }: Input, outer: AbortSignal) =>
      cancelWithService(ports, serviceId, outer, async (signal) => {
        await held(turns, id, signal)
        const live = ports.storage.services.get(serviceId)?.live_deploy_id
        if (!live) throw new Failure('conflict', 'its service is no longer live')
        return { at: instant, deployId: live, image: 'berth/web:1', command: 'rake' }
      }),
    awaitInput: async () => ({ at: instant }),
    startRun: async () => ({ at: instant, startedAt: new Date().toISOString() }),
    followRun: ({ id, serviceId }: Input, outer: AbortSignal) =>
      cancelWithService(ports, serviceId, outer, async (signal) => {
        const exitCode = await held(follows, id, signal)
        const trouble = exitCode === 0 ? null : `exited with code ${exitCode}`
        return { at: instant, exitCode, startedAt: null, finishedAt: instant, trouble, code: 'job_failed' }
      }),
    stopRun: async () => ({ at: instant, exitCode: 143, startedAt: null, finishedAt: instant }),
    async clearRun({ id, outcome }: Input) {
      await openActorLog(ports, 'job', id).close(outcome!)
      return { at: instant }
    },
  }
  return {
    effects,
    let: (id: string) => turns.get(id)!(0),
    isFollowed: (id: string) => follows.has(id),
    end: (id: string, exitCode: number) => follows.get(id)!(exitCode),
  }
}
