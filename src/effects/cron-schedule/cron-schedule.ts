// The effects of a schedule: waiting for its next instant, and starting the run or recording why it is not.
import type { DueRun, machine, NextStep, PlanChange, SchedulePlan } from '../../../machines/cron-schedule.ts'
import type { JobRunRecord } from '../../../machines/job-run.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { latestTime, nextTime } from '../../domain/schedule.ts'
import { timeoutOf } from '../../domain/service-types.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { bySchedule } from '../by.ts'
import { isoNow } from '../iso-now.ts'
import { ownRuns } from '../job-run/turn.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { bind, type SharedPorts } from '../ports.ts'

export function cronScheduleEffects(
  ports: CronSchedulePorts,
  clock: Clock = systemClock,
): Effects<typeof machine> {
  return bind({ ...ports, clock }, { awaitInstant, awaitResume, beginRun })
}

interface InstantInput {
  serviceId: string
  plan: SchedulePlan
  since: string
  used: string[]
}

type Parts = Pick<CronSchedulePorts, 'storage'> & { clock: Clock }

/** The clock may be set between two polls. */
const pollIntervalMs = 30_000

/** Polls the clock, which may be set. A time that has passed is not repeated when the clock is set back. */
export function awaitInstant(ports: Parts, input: InstantInput, signal: AbortSignal): Promise<NextStep> {
  const { plan } = input
  const used = new Set(input.used.map(Date.parse))
  let since = Date.parse(input.since)
  let from = since
  return pollUntil(ports, input, signal, (now) => {
    // While the clock is set back, the time that it shows now counts; once corrected, the earlier one does.
    from = now < since ? Math.min(from, now) : since
    const first = nextUnused(plan, from, used)
    if (first === null) return { waitMs: pollIntervalMs }
    if (first > now) return { waitMs: Math.min(first - now, pollIntervalMs) }
    const latest = latestUpTo(plan, now) ?? first
    if (!used.has(latest)) return { step: { at: isoOf(now), due: dueRun(ports, plan, first, latest) } }
    // Scheduled times before the latest one are skipped.
    since = latest
    return { waitMs: 0 }
  })
}

function awaitResume(
  ports: Parts,
  input: Pick<InstantInput, 'serviceId' | 'plan'>,
  signal: AbortSignal,
): Promise<PlanChange> {
  return pollUntil<PlanChange>(ports, input, signal, () => ({ waitMs: pollIntervalMs }))
}

/** Polls until there is a step or a new plan. A change of the service is noticed immediately. */
async function pollUntil<Step>(
  { storage, clock }: Parts,
  { serviceId, plan }: Pick<InstantInput, 'serviceId' | 'plan'>,
  signal: AbortSignal,
  look: (now: number) => { step: Step } | { waitMs: number },
): Promise<Step | PlanChange> {
  let wake = () => {}
  const unsubscribe = storage.changes.subscribe((change) => {
    if (change.kind === 'service' && change.id === serviceId) wake()
  })
  try {
    for (;;) {
      signal.throwIfAborted()
      const now = clock.now()
      const current = planOf(storage.services.get(serviceId))
      if (!current || !isSamePlan(current, plan)) return { at: isoOf(now), plan: current }
      const outcome = look(now)
      if ('step' in outcome) return outcome.step
      await clock.pause((listener) => (wake = listener), outcome.waitMs, signal)
    }
  } finally {
    unsubscribe()
  }
}

/** Only the latest instant that has passed gets a run. Earlier ones are at least one period late. */
function dueRun({ storage }: Parts, plan: SchedulePlan, first: number, latest: number): DueRun {
  const missed =
    latest > first ? { first: isoOf(first), last: isoOf(latestUpTo(plan, latest - 1) ?? first) } : null
  return { instant: isoOf(latest), runId: storage.ids.newId('job'), missed }
}

function latestUpTo({ schedule, timezone }: SchedulePlan, limit: number): number | null {
  return latestTime(schedule, new Date(limit), timezone)?.getTime() ?? null
}

function nextUnused({ schedule, timezone }: SchedulePlan, from: number, used: Set<number>): number | null {
  for (let at = from; ; ) {
    const next = nextTime(schedule, new Date(at), timezone)?.getTime() ?? null
    if (next === null || !used.has(next)) return next
    at = next
  }
}

const isoOf = (ms: number) => new Date(ms).toISOString()

interface BeginInput extends DueRun {
  id: string
  serviceId: string
}

/** A schedule that is faster than its runs would otherwise queue runs that are useless when they start. */
const maxQueued = 100

/** Repeated after a crash, it finds the run that it started and starts no second one. */
export async function beginRun(ports: CronSchedulePorts & { clock: Clock }, input: BeginInput) {
  const isStarted = ports.storage.actors.record(input.runId) !== null
  const skipped = isStarted ? null : await startOrSkip(ports, input, new Date(ports.clock.now()))
  if (skipped) logSkip(ports, input, skipped)
  return { skipped }
}

async function startOrSkip(ports: CronSchedulePorts, input: BeginInput, now: Date): Promise<string | null> {
  const { storage, actors } = ports
  const service = storage.services.get(input.serviceId)
  if (!service || service.deleting) return 'its service is being deleted'
  if (service.suspended) return 'its service was suspended'
  const live = service.live_deploy_id ? storage.actors.record(service.live_deploy_id) : null
  if (!live) return 'its service was not live'
  if (isTooLate(service, input.instant, now)) return 'the server was down until the next run was due'
  const obstacle = findObstacle(ports, service, input.instant)
  if (obstacle) return obstacle
  try {
    const run = {
      id: input.runId,
      serviceId: service.id,
      command: null,
      image: live.image as string,
      trigger: 'schedule' as const,
      scheduledFor: input.instant,
      overlap: service.overlap ?? 'skip',
      timeoutSeconds: timeoutOf(service),
      stdin: false,
      at: isoNow(),
    }
    await actors.spawn('job-run', input.runId, run, { by: bySchedule })
    return null
  } catch (error) {
    if (codeOf(error) !== 'conflict') throw error
    return messageOf(error)
  }
}

/** Whether the next scheduled time has passed already, because the server was down. */
function isTooLate({ schedule, timezone }: ServiceRow, instant: string, now: Date): boolean {
  const latest = schedule && latestTime(schedule, now, timezone ?? 'UTC')
  return latest ? latest.getTime() > Date.parse(instant) : false
}

function findObstacle(ports: CronSchedulePorts, { id, overlap }: ServiceRow, instant: string): string | null {
  const others = [...ownRuns(ports.storage.actors, id)]
  if (overlap === 'replace') return null
  if (overlap === 'queue') return others.length < maxQueued ? null : `${others.length} runs have not ended`
  const running = others.at(-1)
  if (!running) return null
  const log = openActorLog(ports, 'job', running.id)
  log.info(`the run due at ${instant} was skipped: this run has not ended`)
  return `${running.id}${scheduledTimeText(running)} had not ended`
}

function scheduledTimeText({ scheduled_for }: JobRunRecord): string {
  return scheduled_for ? ` of ${scheduled_for}` : ''
}

function logSkip(
  { storage, logger }: CronSchedulePorts,
  { serviceId, instant }: BeginInput,
  reason: string,
): void {
  const service = storage.services.get(serviceId)?.name
  logger.warn({ service, instant, reason }, 'a run of a schedule was skipped')
}

/** null if the service is deleted or being deleted, or has no schedule. */
export function planOf(service: ServiceRow | null): SchedulePlan | null {
  if (!service || service.deleting || service.schedule === null) return null
  const { schedule, timezone, suspended } = service
  return { schedule, timezone: timezone ?? 'UTC', isSuspended: suspended }
}

export function isSamePlan(a: SchedulePlan, b: SchedulePlan): boolean {
  return a.schedule === b.schedule && a.timezone === b.timezone && a.isSuspended === b.isSuspended
}

export type CronSchedulePorts = SharedPorts

/** Tests replace it, so that two years pass in a second. */
export interface Clock {
  /** Ms since 1970. */
  now(): number
  /** Resolves when the listener handed to `listen` is called, or after the time; rejects with the signal. */
  pause(listen: (listener: () => void) => void, durationMs: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = { now: Date.now, pause: waitForWake }
