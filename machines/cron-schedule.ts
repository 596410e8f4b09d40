// The schedule of a cron service: waits for the next instant, begins a run for it or says why not, and waits
// again.
// The id of a run is committed before it is begun. Begun again after a crash it is the same run: no
// instant ever has two.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type RebuildFrom, textsOf } from './rebuild.ts'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

/** Instants that came while it was parked are not made up for. */
export function rebuild({ record, asked, at }: RebuildFrom): object | null {
  if (asked) return { ...asked, at }
  const known = textsOf(record, 'id', 'service_id', 'schedule', 'timezone')
  if (!known) return null
  const { id, service_id: serviceId, schedule, timezone } = known
  // It compares this plan with that of its service at once.
  return { id, serviceId, plan: { schedule, timezone, isSuspended: false }, at }
}

/** What of its service it goes by. */
export interface SchedulePlan {
  schedule: string
  timezone: string
  isSuspended: boolean
}

export interface CronScheduleInput {
  id: string
  serviceId: string
  plan: SchedulePlan
  at: string
}

interface ScheduleSlot extends SlotInput {
  serviceId: string
}

/** An instant that has come, and the id of the run that is to be begun for it. */
export interface DueRun {
  instant: string
  runId: string
  /** Instants before it for which it is too late; null when there are none. */
  missed: { first: string; last: string } | null
}

/** The service has another plan than the one that is waited by; null when it is gone. */
export interface PlanChange extends SlotOutput {
  plan: SchedulePlan | null
}

export type NextStep = PlanChange | (SlotOutput & { due: DueRun })

export interface BegunRun extends SlotOutput {
  /** Why nothing was begun; null when it was. */
  skipped: string | null
}

interface Skip {
  instant: string
  at: string
  reason: string
}

export interface CronScheduleContext extends CronScheduleInput {
  /** Instants after this one are still to come. */
  since: string
  /** The last instants that came: none of them comes again when the clock is set back. */
  used: string[]
  due: DueRun | null
  lastRun: { instant: string; runId: string } | null
  lastSkip: Skip | null
  /** What it did last, for its history. */
  deed: string | null
}

const usedKept = 100

const cronSchedule = setup({
  types: {} as { context: CronScheduleContext; input: CronScheduleInput },
  actors: {
    awaitInstant: slot<ScheduleSlot & { plan: SchedulePlan; since: string; used: string[] }, NextStep>(),
    awaitResume: slot<ScheduleSlot & { plan: SchedulePlan }, PlanChange>(),
    beginRun: slot<ScheduleSlot & DueRun, BegunRun>(),
  },
  guards: {
    isSuspended: ({ context }) => context.plan.isSuspended,
    isGone: (_, step: NextStep) => 'plan' in step && step.plan === null,
    isDue: (_, step: NextStep) => 'due' in step,
  },
  actions: {
    /** Instants of the former plan, and of the time it was suspended, are nobody's any more. */
    keepPlan: assign(({ context }, step: NextStep) =>
      'plan' in step && step.plan !== null ? { plan: step.plan, since: step.at, deed: null } : context,
    ),
    keepDue: assign(({ context }, step: NextStep) => ('due' in step ? dueKept(context, step) : context)),
    keepOutcome: assign(({ context: { due, lastRun, lastSkip } }, { skipped, at }: BegunRun) => {
      const { instant, runId } = due!
      if (skipped === null) {
        return { due: null, lastRun: { instant, runId }, lastSkip, deed: `began ${runId} for ${instant}` }
      }
      const deed = `skipped ${instant}: ${skipped}`
      return { due: null, lastRun, lastSkip: { instant, at, reason: skipped }, deed }
    }),
  },
})

function dueKept({ used, lastSkip }: CronScheduleContext, { at, due }: SlotOutput & { due: DueRun }) {
  const missed = due.missed && { instant: due.missed.last, at, reason: missedReason(due.missed) }
  return {
    due,
    since: due.instant,
    used: [...used, due.instant].slice(-usedKept),
    lastSkip: missed ?? lastSkip,
    deed: missed && `skipped up to ${missed.instant}: ${missed.reason}`,
  }
}

function missedReason({ first, last }: { first: string; last: string }): string {
  const which = first === last ? first : `every instant from ${first} to ${last}`
  return `the server did not run, or its clock was set forward: ${which} was missed by a whole period or more`
}

const own = ({ context: { id, serviceId } }: { context: CronScheduleContext }) => ({ id, serviceId })
const stepOf = ({ event }: { event: { output: NextStep } }) => event.output

const changed = [
  { guard: { type: 'isGone', params: stepOf }, target: 'ended' },
  { target: 'planning', actions: { type: 'keepPlan', params: stepOf } },
] as const

export const machine = cronSchedule.createMachine({
  id: 'cron-schedule',
  context: ({ input }) => ({
    ...input,
    since: input.at,
    used: [],
    due: null,
    lastRun: null,
    lastSkip: null,
    deed: null,
  }),
  initial: 'planning',
  states: {
    planning: { always: [{ guard: 'isSuspended', target: 'paused' }, { target: 'waiting' }] },
    waiting: {
      invoke: {
        id: 'awaitInstant',
        src: 'awaitInstant',
        input: ({ context }) => ({
          ...own({ context }),
          plan: context.plan,
          since: context.since,
          used: context.used,
        }),
        onDone: [
          {
            guard: { type: 'isDue', params: stepOf },
            target: 'due',
            actions: { type: 'keepDue', params: stepOf },
          },
          ...changed,
        ],
      },
    },
    paused: {
      invoke: {
        id: 'awaitResume',
        src: 'awaitResume',
        input: ({ context }) => ({ ...own({ context }), plan: context.plan }),
        onDone: changed,
      },
    },
    due: {
      invoke: {
        id: 'beginRun',
        src: 'beginRun',
        input: ({ context }) => ({ ...own({ context }), ...context.due! }),
        onDone: {
          target: 'planning',
          actions: { type: 'keepOutcome', params: ({ event }) => event.output },
        },
      },
    },
    ended: { type: 'final' },
  },
})

export type CronScheduleSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: CronScheduleSnapshot) {
  const { id, serviceId, plan, since, lastRun, lastSkip, deed, at } = snapshot.context
  return {
    id,
    service_id: serviceId,
    status: snapshot.value as 'waiting' | 'paused' | 'due' | 'ended',
    phase: deed,
    schedule: plan.schedule,
    timezone: plan.timezone,
    since,
    last_run: lastRun && { scheduled_for: lastRun.instant, job_id: lastRun.runId },
    last_skip: lastSkip && { scheduled_for: lastSkip.instant, at: lastSkip.at, reason: lastSkip.reason },
    created_at: at,
  }
}

export type CronScheduleRecord = ReturnType<typeof toRecord>
