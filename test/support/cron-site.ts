// A cron job on a real store under the real supervisor, by a clock that the test moves. Its runs are charts
// too, whose effects are the test's.
// `stop` and `start` are a crash of the daemon and its return; what was committed is all that is left.
import type { TestContext } from 'node:test'
import type { CronScheduleRecord, machine as scheduleMachine } from '../../machines/cron-schedule.ts'
import { catalogue as kinds } from '../../machines/index.ts'
import type { machine as jobRun } from '../../machines/job-run/job-run.ts'
import type { JobRunRecord } from '../../machines/job-run/job-run-record.ts'
import type { Effects } from '../../machines/slot.ts'
import { scheduleIdOf } from '../../src/domain/job-defaults.ts'
import { cronScheduleEffects } from '../../src/effects/cron-schedule/cron-schedule.ts'
import { isSamePlan, planOf } from '../../src/effects/cron-schedule/plan.ts'
import type { CronSchedulePorts } from '../../src/effects/cron-schedule/ports.ts'
import type { ActorPort } from '../../src/effects/ports.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import type { ServiceRow } from '../../storage/services.ts'
import { temporaryDirectory } from './directory.ts'
import { type SimulatedClock, simulatedClock, soon } from './simulated-clock.ts'
import { standIn } from './stand-in.ts'
import { serviceRow, transitionOf } from './store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from './supervision.ts'

type ScheduleEffects = Effects<typeof scheduleMachine>

export interface CronSiteOptions {
  /** What the clock shows first. */
  at: string
  service?: Partial<ServiceRow>
  /** Instead of the real one. */
  beginRun?: ScheduleEffects['beginRun']
  /** How runs end: at once, or when the test says. */
  isHeld?: boolean
}

export const cronJob = { type: 'cron_job', schedule: '*/30 * * * *', live_deploy_id: 'dep-1' } as const

export async function openCronSite(t: TestContext, options: CronSiteOptions): Promise<CronSite> {
  // Hooks run in the order they were made: who writes stops before the store closes.
  let site: CronSite | null = null
  t.after(() => site?.stop())
  site = new CronSite(await temporaryStorage(t, temporaryDirectory(t)), options)
  await site.start()
  return site
}

/** A class, because what a test does to it are many small things around the same few parts. */
export class CronSite {
  readonly storage: Storage
  readonly time: SimulatedClock
  readonly #options: CronSiteOptions
  /** Of the runs that are at work, by their ids. */
  readonly #endings = new Map<string, () => void>()
  #supervisor: Supervisor | null = null
  #schedules = 0

  constructor(storage: Storage, options: CronSiteOptions) {
    this.storage = storage
    this.time = simulatedClock(options.at)
    this.#options = options
  }

  /** The daemon begins, or comes back; `changes` replace what effects do to other actors. */
  async start(changes: Partial<ActorPort> = {}): Promise<void> {
    const { storage, time } = this
    const { beginRun, isHeld } = this.#options
    const catalogue = { 'cron-schedule': kinds['cron-schedule'], 'job-run': kinds['job-run'] }
    const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger, now: time.clock.now })
    const actors = {
      send: supervisor.send.bind(supervisor),
      spawn: supervisor.spawn.bind(supervisor),
      ...changes,
    }
    const ports = standIn<CronSchedulePorts>({ storage, actors, logger: silentLogger })
    supervisor.provide({
      'cron-schedule': { ...cronScheduleEffects(ports, time.clock), ...(beginRun ? { beginRun } : {}) },
      'job-run': effectsOfRuns(isHeld ? this.#endings : null),
    })
    this.#supervisor = supervisor
    await supervisor.restore()
  }

  async stop(): Promise<void> {
    await this.#supervisor?.stop(0)
  }

  /** What the supervisor itself does, for a port that does more. */
  spawn: ActorPort['spawn'] = (...asked) => this.#supervisor!.spawn(...asked)

  /** The oldest first. */
  runs(serviceId = 'svc-1'): JobRunRecord[] {
    return this.storage.actors.list('job-run', serviceId, 10_000).reverse() as JobRunRecord[]
  }

  /** The instants that got a run, in the order of their runs. */
  instants(): (string | null)[] {
    return this.runs().map(({ scheduled_for }) => scheduled_for)
  }

  schedule(): CronScheduleRecord {
    return this.storage.actors.record(scheduleIdOf('svc-1')) as unknown as CronScheduleRecord
  }

  /** A cron job that is live, and its schedule as its deploy makes it. */
  async add(changes: Partial<ServiceRow> = {}): Promise<void> {
    const service = serviceRow({ ...cronJob, ...this.#options.service, ...changes })
    await this.storage.services.create(service)
    if (!this.storage.actors.record('dep-1')) {
      const deploy = transitionOf({ id: 'dep-1', service_id: null })
      const record = { ...deploy.record, status: 'live', image: 'berth/shop:dep-1' }
      await this.storage.actors.create({ ...deploy, record })
    }
    const id = scheduleIdOf(service.id)
    const at = new Date(this.time.clock.now()).toISOString()
    await this.spawn('cron-schedule', id, { id, serviceId: service.id, plan: planOf(service)!, at })
    this.#schedules++
  }

  /** Every schedule waits, and every run is over that ends by itself. */
  async quiet(): Promise<void> {
    await soon('every schedule to wait, and every run to be over', () => {
      if (this.time.pausing !== this.#schedules) return false
      return this.#options.isHeld || [...this.storage.actors.active('job-run')].length === 0
    })
  }

  /** Time passes; whoever it wakes is at rest again before it goes on. */
  async pass(durationMs: number): Promise<void> {
    for (let leftMs = durationMs; ; ) {
      await this.quiet()
      if (leftMs <= 0) return
      const stepMs = Math.min(leftMs, this.time.restMs)
      this.time.move(stepMs)
      leftMs -= stepMs
    }
  }

  /** Somebody changes the service; its schedule has seen it. */
  async change(fields: Partial<ServiceRow>): Promise<void> {
    const { services } = this.storage
    const plan = planOf(await services.update('svc-1', (row) => ({ ...row, ...fields })))
    await soon('the schedule to have another plan', () => {
      const { schedule, timezone, status } = this.schedule()
      if (!plan) return status === 'ended'
      return isSamePlan(plan, { schedule, timezone, isSuspended: status === 'paused' })
    })
    if (!plan) this.#schedules--
    await this.quiet()
  }
}

function effectsOfRuns(endings: Map<string, () => void> | null): Effects<typeof jobRun> {
  const ended = {
    at: instant,
    exitCode: 0,
    startedAt: instant,
    finishedAt: instant,
    trouble: null,
    code: 'job_failed',
  }
  return {
    awaitTurn: async () => ({ at: instant, deployId: 'dep-1', image: 'berth/shop:dep-1', command: null }),
    startRun: async () => ({ at: instant, startedAt: instant }),
    followRun: ({ id }) =>
      endings ? new Promise((resolve) => endings.set(id, () => resolve(ended))) : Promise.resolve(ended),
    stopRun: async () => ended,
    clearRun: async () => ({ at: instant }),
  }
}
