// Waits for the next scheduled time, or for a change of the service's settings. Clocks are set, and
// machines sleep, so the clock is polled instead of trusting one timer. A scheduled time that has passed is
// not repeated when the clock is set back.
import type { DueRun, NextStep, PlanChange, SchedulePlan } from '../../../machines/cron-schedule.ts'
import { latestTime, nextTime } from '../../domain/schedule.ts'
import type { Clock } from './clock.ts'
import { isSamePlan, planOf } from './plan.ts'
import type { CronSchedulePorts } from './ports.ts'

interface InstantInput {
  serviceId: string
  plan: SchedulePlan
  since: string
  used: string[]
}

type Parts = Pick<CronSchedulePorts, 'storage'>

/** The clock may be set between two polls. */
const pollIntervalMs = 30_000

export function awaitInstant(ports: Parts, clock: Clock) {
  return (input: InstantInput, signal: AbortSignal): Promise<NextStep> => {
    const { plan } = input
    const used = new Set(input.used.map(Date.parse))
    let since = Date.parse(input.since)
    let from = since
    return pollUntil(ports, clock, input, signal, (now) => {
      // While the clock is set back, the time that it shows now counts; once corrected, the
      // earlier one does.
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
}

export function awaitResume(ports: Parts, clock: Clock) {
  return (input: Pick<InstantInput, 'serviceId' | 'plan'>, signal: AbortSignal): Promise<PlanChange> =>
    pollUntil<PlanChange>(ports, clock, input, signal, () => ({ waitMs: pollIntervalMs }))
}

/** Polls until there is a step or a new plan. A change of the service is noticed immediately. */
async function pollUntil<Step>(
  { storage }: Parts,
  clock: Clock,
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
