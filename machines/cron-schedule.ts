// The schedule of a cron service: waits for the next instant, begins a run or records why not, and waits
// again. The id of a run is committed before the run begins. A repetition after a crash finds the same run,
// so no instant has two runs.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['awaitInstant', 'beginRun'] as const

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

export interface DueRun {
  instant: string
  runId: string
  /** Earlier instants that were missed; null without any. */
  missed: { first: string; last: string } | null
}

/** The plan of the service changed; null when the service was removed. */
export interface PlanChange extends SlotOutput {
  plan: SchedulePlan | null
}

export type NextStep = PlanChange | (SlotOutput & { due: DueRun })

export interface BegunRun extends SlotOutput {
  /** Why the run was skipped; null when it began. */
  skipped: string | null
}

interface Skip {
  instant: string
  at: string
  reason: string
}

export interface CronScheduleContext extends CronScheduleInput {
  /** Only instants after this one can become due. */
  since: string
  /** The last instants that were due: they do not become due again when the clock is set back. */
  used: string[]
  due: DueRun | null
  lastRun: { instant: string; runId: string } | null
  lastSkip: Skip | null
  /** The last action, shown in the history. */
  deed: string | null
}

const maxUsed = 100

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
    /** Drops instants of the former plan and of the time of a suspension. */
    recordPlan: assign(({ context }, step: NextStep) =>
      'plan' in step && step.plan !== null ? { plan: step.plan, since: step.at, deed: null } : context,
    ),
    recordDue: assign(({ context }, step: NextStep) =>
      'due' in step ? contextOfDue(context, step) : context,
    ),
    recordOutcome: assign(({ context: { due, lastRun, lastSkip } }, { skipped, at }: BegunRun) => {
      const { instant, runId } = due!
      if (skipped === null) {
        return { due: null, lastRun: { instant, runId }, lastSkip, deed: `began ${runId} for ${instant}` }
      }
      const deed = `skipped ${instant}: ${skipped}`
      return { due: null, lastRun, lastSkip: { instant, at, reason: skipped }, deed }
    }),
  },
})

function contextOfDue({ used, lastSkip }: CronScheduleContext, { at, due }: SlotOutput & { due: DueRun }) {
  const missed = due.missed && { instant: due.missed.last, at, reason: missedReason(due.missed) }
  return {
    due,
    since: due.instant,
    used: [...used, due.instant].slice(-maxUsed),
    lastSkip: missed ?? lastSkip,
    deed: missed && `skipped up to ${missed.instant}: ${missed.reason}`,
  }
}

function missedReason({ first, last }: { first: string; last: string }): string {
  const which = first === last ? first : `every instant from ${first} to ${last}`
  return `the server did not run, or its clock was set forward: ${which} was missed by a whole period or more`
}

const slotInput = ({ context: { id, serviceId } }: { context: CronScheduleContext }) => ({ id, serviceId })
const stepOf = ({ event }: { event: { output: NextStep } }) => event.output

const changed = [
  { guard: { type: 'isGone', params: stepOf }, target: 'ended' },
  { target: 'planning', actions: { type: 'recordPlan', params: stepOf } },
] as const

export const machine = cronSchedule.createMachine({
  id: 'cron-schedule',
  description: 'Starts the runs of a cron job when they are due.',
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
    planning: {
      description: 'Decides whether to wait for the next run, or to pause.',
      always: [{ guard: 'isSuspended', target: 'paused' }, { target: 'waiting' }],
    },
    waiting: {
      description: 'Waits for the next run of the schedule.',
      invoke: {
        id: 'awaitInstant',
        src: 'awaitInstant',
        input: ({ context }) => ({
          ...slotInput({ context }),
          plan: context.plan,
          since: context.since,
          used: context.used,
        }),
        onDone: [
          {
            guard: { type: 'isDue', params: stepOf },
            target: 'due',
            actions: { type: 'recordDue', params: stepOf },
          },
          ...changed,
        ],
      },
    },
    paused: {
      description: 'The service is suspended. Waits until it is resumed.',
      invoke: {
        id: 'awaitResume',
        src: 'awaitResume',
        input: ({ context }) => ({ ...slotInput({ context }), plan: context.plan }),
        onDone: changed,
      },
    },
    due: {
      description: 'Begins the run, or records why it is skipped.',
      invoke: {
        id: 'beginRun',
        src: 'beginRun',
        input: ({ context }) => ({ ...slotInput({ context }), ...context.due! }),
        onDone: {
          target: 'planning',
          actions: { type: 'recordOutcome', params: ({ event }) => event.output },
        },
      },
    },
    ended: { description: 'Its service was removed.', type: 'final' },
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
