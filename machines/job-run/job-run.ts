// A run of a command in a container of its own, in the image that is live: once, by hand or on a schedule.
// What has begun is never begun again. After a crash its container is found by its name and ends as it
// would have ended.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type Problem, problemOf } from '../problem.ts'
import { type SlotFailure, type SlotInput, type SlotOutput, slot } from '../slot.ts'

export const version = 1

export const cleanups = ['stopRun', 'clearRun'] as const

export type Overlap = 'skip' | 'queue' | 'replace'

export interface JobRunInput {
  id: string
  serviceId: string
  /** Run by `sh -c`; null for what the service is set to run. */
  command: string | null
  /** What is live when the run is asked for; what it runs in the end is known when it begins. */
  image: string
  trigger: 'manual' | 'schedule'
  /** The instant of its schedule; null when somebody asked for it. */
  scheduledFor: string | null
  /** How it goes along with other runs of the service's own command; null for a command of its own. */
  overlap: Overlap | null
  timeoutSeconds: number
  at: string
}

export type JobRunEvent = { type: 'cancel'; at: string; by: string }

export interface RunSlot extends SlotInput {
  serviceId: string
  /** It runs what its service is set to run: of these there is one at a time. */
  isOwn: boolean
}

/** What having the turn brings: what is live then is what it runs. */
export interface RunTurn extends SlotOutput {
  deployId: string
  image: string
  command: string | null
}

export interface RunStart extends RunSlot {
  deployId: string
  image: string
  command: string | null
}

export interface StartedRun extends SlotOutput {
  /** As Docker tells it. */
  startedAt: string
}

export interface RunFollow extends RunSlot {
  command: string | null
  timeoutSeconds: number
  /** Ms since 1970. */
  endsAt: number
}

export interface EndedRun extends SlotOutput {
  exitCode: number | null
  /** As Docker tells it; null when it never ran, and when it is known already. */
  startedAt: string | null
  /** As Docker tells it; null when it never ran. */
  finishedAt: string | null
}

export interface FollowedRun extends EndedRun {
  /** Why that is a failure; null when it is none. */
  trouble: string | null
  /** Of the trouble. */
  code: string
}

export interface JobRunContext extends JobRunInput {
  deployId: string | null
  startedAt: string | null
  finishedAt: string | null
  exitCode: number | null
  error: Problem | null
}

const jobRun = setup({
  types: {} as { context: JobRunContext; input: JobRunInput; events: JobRunEvent },
  actors: {
    awaitTurn: slot<RunSlot & Pick<JobRunInput, 'command' | 'overlap'>, RunTurn>(),
    startRun: slot<RunStart, StartedRun>(),
    followRun: slot<RunFollow, FollowedRun>(),
    /** SIGTERM, ten seconds, SIGKILL; then what it wrote until its end. */
    stopRun: slot<RunSlot, EndedRun>(),
    /** The last line of its log; its container and whatever else it had go. */
    clearRun: slot<RunSlot & { outcome: string }, SlotOutput>(),
  },
  guards: {
    hasSucceeded: (_, { trouble }: FollowedRun) => trouble === null,
    isWithdrawn: (_, { code }: SlotFailure) => code === 'withdrawn',
  },
  actions: {
    keepFailure: assign((_, failure: SlotFailure) => ({
      error: problemOf(failure),
      finishedAt: failure.at,
    })),
    keepCancel: assign((_, { at, by }: { at: string; by: string }) => ({
      error: { code: 'canceled', message: `canceled by ${by}` },
      finishedAt: at,
    })),
    /** Canceled while Docker started it, it may have begun a moment after it was over. */
    keepStop: assign(({ context }, { exitCode, startedAt }: EndedRun) => ({
      exitCode,
      startedAt: context.startedAt ?? (startedAt && [startedAt, context.finishedAt!].sort()[0]!),
    })),
    keepEnd: assign(({ context }, { exitCode, startedAt, finishedAt, at }: EndedRun) => ({
      exitCode: exitCode ?? context.exitCode,
      startedAt: context.startedAt ?? startedAt,
      // Docker notes a start after the end when that comes within the same few milliseconds.
      finishedAt: [context.startedAt ?? startedAt ?? '', finishedAt ?? at].sort()[1]!,
    })),
  },
})

const own = ({ context: { id, serviceId, overlap } }: { context: JobRunContext }): RunSlot => ({
  id,
  serviceId,
  isOwn: overlap !== null,
})
const failureOf = ({ event }: { event: { error: unknown } }) => event.error as SlotFailure
const keepFailure = { type: 'keepFailure', params: failureOf } as const

/** A service that is suspended or deleted takes its runs along; everything else is a failure. */
const failingTo = (target: string) =>
  [
    { guard: { type: 'isWithdrawn', params: failureOf }, target: '#job-run.canceling', actions: keepFailure },
    { target, actions: keepFailure },
  ] as const

const canceling = {
  target: '#job-run.canceling',
  actions: { type: 'keepCancel', params: ({ event }: { event: { at: string; by: string } }) => event },
} as const

/** The last line of its log. */
function outcomeOf({ error }: JobRunContext): string {
  if (error === null) return 'succeeded'
  if (error.code === 'canceled' || error.code === 'withdrawn') return error.message
  return `failed: ${error.message}`
}

const clearing = {
  id: 'clearRun',
  src: 'clearRun',
  input: ({ context }: { context: JobRunContext }) => ({ ...own({ context }), outcome: outcomeOf(context) }),
} as const

export const machine = jobRun.createMachine({
  id: 'job-run',
  context: ({ input }) => ({
    ...input,
    deployId: null,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    error: null,
  }),
  initial: 'pending',
  states: {
    pending: {
      on: { cancel: canceling },
      invoke: {
        id: 'awaitTurn',
        src: 'awaitTurn',
        input: ({ context }) => ({
          ...own({ context }),
          command: context.command,
          overlap: context.overlap,
        }),
        onDone: {
          target: 'running',
          actions: assign(({ event: { output } }) => ({
            deployId: output.deployId,
            image: output.image,
            command: output.command,
          })),
        },
        onError: failingTo('failing'),
      },
    },
    running: {
      on: { cancel: canceling },
      initial: 'starting',
      states: {
        starting: {
          invoke: {
            id: 'startRun',
            src: 'startRun',
            input: ({ context }) => ({
              ...own({ context }),
              deployId: context.deployId!,
              image: context.image,
              command: context.command,
            }),
            onDone: {
              target: 'following',
              actions: assign(({ event: { output } }) => ({ startedAt: output.startedAt })),
            },
            onError: failingTo('stopping'),
          },
        },
        following: {
          invoke: {
            id: 'followRun',
            src: 'followRun',
            input: ({ context }) => ({
              ...own({ context }),
              command: context.command,
              timeoutSeconds: context.timeoutSeconds,
              endsAt: Date.parse(context.startedAt!) + context.timeoutSeconds * 1000,
            }),
            onDone: [
              {
                guard: { type: 'hasSucceeded', params: ({ event }) => event.output },
                target: '#job-run.succeeding',
                actions: { type: 'keepEnd', params: ({ event }) => event.output },
              },
              {
                target: '#job-run.failing',
                actions: [
                  { type: 'keepEnd', params: ({ event }) => event.output },
                  assign(({ event }) => ({
                    error: { code: event.output.code, message: event.output.trouble! },
                  })),
                ],
              },
            ],
            onError: failingTo('stopping'),
          },
        },
        // It has failed, and may still run: until it does not, it is not over.
        stopping: {
          invoke: {
            id: 'stopRun',
            src: 'stopRun',
            input: own,
            onDone: {
              target: '#job-run.failing',
              actions: { type: 'keepEnd', params: ({ event }) => event.output },
            },
          },
        },
      },
    },
    canceling: {
      initial: 'stopping',
      states: {
        stopping: {
          invoke: {
            id: 'stopRun',
            src: 'stopRun',
            input: own,
            onDone: {
              target: 'clearing',
              actions: {
                type: 'keepStop',
                params: ({ event }: { event: { output: EndedRun } }) => event.output,
              },
            },
          },
        },
        clearing: { invoke: { ...clearing, onDone: '#job-run.canceled' } },
      },
    },
    succeeding: { invoke: { ...clearing, onDone: 'succeeded' } },
    failing: { invoke: { ...clearing, onDone: 'failed' } },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    canceled: { type: 'final' },
  },
})

export type JobRunSnapshot = SnapshotFrom<typeof machine>
