// A cron job with a real store, a real supervisor and a clock that the test moves. Effects of its job runs
// belong to the test.
// `stop` and `start` simulate a crash and restart of the daemon: only committed data survives.
import type { TestContext } from 'node:test'
import type { CronScheduleRecord, machine as scheduleMachine } from '../../../machines/cron-schedule.ts'
import { catalogue as kinds } from '../../../machines/index.ts'
import type { JobRunRecord, machine as jobRun } from '../../../machines/job-run.ts'
import type { Effects } from '../../../machines/slot.ts'
import { scheduleIdOf } from '../../../src/domain/service-types.ts'
import {
  type Clock,
  type CronSchedulePorts,
  cronScheduleEffects,
  isSamePlan,
  planOf,
} from '../../../src/effects/cron-schedule/cron-schedule.ts'
import type { ActorPort } from '../../../src/effects/ports.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { serviceRow, transitionOf } from '../storage/store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from '../supervisor/supervision.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { standIn } from './stand-in.ts'

type ScheduleEffects = Effects<typeof scheduleMachine>

interface CronSiteOptions {
  /** The initial time. */
  at: string
  service?: Partial<ServiceRow>
  /** Replaces the effect that starts runs. */
  beginRun?: ScheduleEffects['beginRun']
  /** Whether runs end at once, or when the test ends them. */
  isHeld?: boolean
}

const cronJob = { type: 'cron_job', schedule: '*/30 * * * *', live_deploy_id: 'dep-1' } as const

export async function openCronSite(t: TestContext, options: CronSiteOptions): Promise<CronSite> {
  // Hooks run in the order of registration: writers must stop before the store closes.
  let site: CronSite | null = null
  t.after(() => site?.stop())
  site = new CronSite(await temporaryStorage(t, temporaryDirectory(t)), options)
  await site.start()
  return site
}

/** A class, because tests apply many small operations to the same state. */
class CronSite {
  readonly storage: Storage
  readonly time: SimulatedClock
  readonly #options: CronSiteOptions
  /** Active runs, by id. */
  readonly #endings = new Map<string, () => void>()
  #supervisor: Supervisor | null = null
  #schedules = 0

  constructor(storage: Storage, options: CronSiteOptions) {
    this.storage = storage
    this.time = simulatedClock(options.at)
    this.#options = options
  }

  /** Starts or restarts the daemon; `changes` replace the calls of effects to other actors. */
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

  /** The supervisor's own port, for one that wraps it. */
  spawn: ActorPort['spawn'] = (...requested) => this.#supervisor!.spawn(...requested)

  /** The oldest first. */
  runs(serviceId = 'svc-1'): JobRunRecord[] {
    return this.storage.actors.list('job-run', serviceId, 10_000).reverse() as JobRunRecord[]
  }

  /** The scheduled times of all runs, in the order of the runs. */
  instants(): (string | null)[] {
    return this.runs().map(({ scheduled_for }) => scheduled_for)
  }

  schedule(): CronScheduleRecord {
    return this.storage.actors.record(scheduleIdOf('svc-1')) as unknown as CronScheduleRecord
  }

  /** Stores a live cron job, and its schedule as the deploy would create it. */
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

  /** Resolves when every schedule waits and every run that ends unattended has ended. */
  async quiet(): Promise<void> {
    await soon('every schedule to wait, and every run to be over', () => {
      if (this.time.pausing !== this.#schedules) return false
      return this.#options.isHeld || [...this.storage.actors.active('job-run')].length === 0
    })
  }

  /** Advances the clock step by step; everything that wakes settles before the next step. */
  async pass(durationMs: number): Promise<void> {
    for (let leftMs = durationMs; ; ) {
      await this.quiet()
      if (leftMs <= 0) return
      const stepMs = Math.min(leftMs, this.time.restMs)
      this.time.move(stepMs)
      leftMs -= stepMs
    }
  }

  /** Changes the service and waits until its schedule has noticed. */
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
    awaitInput: async () => ({ at: instant }),
    startRun: async () => ({ at: instant, startedAt: instant }),
    followRun: ({ id }) =>
      endings ? new Promise((resolve) => endings.set(id, () => resolve(ended))) : Promise.resolve(ended),
    stopRun: async () => ended,
    clearRun: async () => ({ at: instant }),
  }
}

interface Sleeper {
  /** The elapsed ms at which it wakes. */
  wakeAt: number
  wake: () => void
}

const timeoutMs = Number(process.env.BERTH_TEST_PATIENCE_MS ?? 120_000)

/** Sleeps until it is woken or aborted. */
async function sleepAmong(
  sleepers: Set<Sleeper>,
  wakeAt: number,
  listen: (listener: () => void) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const wake = () => {
      sleepers.delete(sleeper)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const sleeper: Sleeper = { wakeAt, wake }
    sleepers.add(sleeper)
    signal.addEventListener('abort', wake)
    listen(wake)
  })
  signal.throwIfAborted()
}

function simulatedClock(at: string) {
  let shownMs = Date.parse(at)
  let passedMs = 0
  const sleepers = new Set<Sleeper>()

  const clock: Clock = {
    now: () => shownMs,
    pause: (listen, durationMs, signal) => sleepAmong(sleepers, passedMs + durationMs, listen, signal),
  }

  function move(durationMs: number): void {
    passedMs += durationMs
    shownMs += durationMs
    for (const sleeper of [...sleepers]) if (sleeper.wakeAt <= passedMs) sleeper.wake()
  }

  return {
    clock,
    /** The number of sleepers. */
    get pausing() {
      return sleepers.size
    },
    /** The time until the next wake-up. */
    get restMs() {
      return Math.min(...[...sleepers].map(({ wakeAt }) => wakeAt)) - passedMs
    },
    /** Advances the elapsed time in one step. */
    move,
    /** Sets the displayed time. */
    set(to: string): void {
      shownMs = Date.parse(to)
    },
    setBy(ms: number): void {
      shownMs += ms
    },
  }
}

type SimulatedClock = ReturnType<typeof simulatedClock>

/** Runs turns of the event loop until the condition holds, which is faster than polling with a timer. */
export async function soon(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
