// A single run of a command in its own container with the live image, started manually or by a schedule.
// A command is never started twice. After a crash the container is found by its name, and the run continues.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { rootState } from './root-state.ts'
import { failureOf, type SlotFailure, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 2

/** Version 1 had no standard input. */
export function migrate(snapshot: unknown, _from: number): unknown {
  const old = snapshot as { context: object }
  return { ...old, context: { stdin: false, inputUntil: null, inputEndedAt: null, ...old.context } }
}

export const cleanups = ['stopRun', 'clearRun'] as const

export const readers = ['startRun', 'followRun', 'stopRun', 'clearRun'] as const

export type Overlap = 'skip' | 'queue' | 'replace'

export interface JobRunInput {
  id: string
  serviceId: string
  /** Run by `sh -c`; null for the service's own command. */
  command: string | null
  /** The live image at the request. The run uses the image that is live when it begins. */
  image: string
  trigger: 'manual' | 'schedule'
  /** The instant of the schedule; null for a manual run. */
  scheduledFor: string | null
  /** The policy for other runs of the service's own command; null for a different command. */
  overlap: Overlap | null
  timeoutSeconds: number
  /** Whether a client sends its standard input. It cannot be sent again: a run that loses it fails. */
  stdin: boolean
  at: string
}

export type JobRunEvent = { type: 'cancel'; at: string; by: string } | { type: 'input.ended'; at: string }

export interface RunSlot extends SlotInput {
  serviceId: string
}

/** The result of getting the turn: the deploy that is live then. */
export interface RunTurn extends SlotOutput {
  deployId: string
  image: string
  command: string | null
}

export interface RunConnect extends RunSlot {
  /** Ms since 1970. */
  until: number
}

export interface RunStart extends RunSlot {
  deployId: string
  image: string
  command: string | null
  stdin: boolean
}

export interface StartedRun extends SlotOutput {
  /** The time that Docker reports. */
  startedAt: string
}

export interface RunFollow extends RunSlot {
  command: string | null
  stdin: boolean
  timeoutSeconds: number
  /** Ms since 1970. */
  endsAt: number
}

export interface EndedRun extends SlotOutput {
  exitCode: number | null
  /** The time that Docker reports. Null if the container never ran, or if the time is already known. */
  startedAt: string | null
  /** The time that Docker reports. Null if the container never ran. */
  finishedAt: string | null
}

export interface FollowedRun extends EndedRun {
  /** Why the run failed; null for a success. */
  trouble: string | null
  code: string
}

export interface JobRunContext extends JobRunInput {
  deployId: string | null
  /** Until when its client must have connected: ms since 1970. */
  inputUntil: number | null
  /** When the command had got all of its input. */
  inputEndedAt: string | null
  startedAt: string | null
  finishedAt: string | null
  exitCode: number | null
  error: Problem | null
}

const inputWaitMs = 30_000

const jobRun = setup({
  types: {} as { context: JobRunContext; input: JobRunInput; events: JobRunEvent },
  actors: {
    awaitTurn: slot<RunSlot & Pick<JobRunInput, 'command' | 'overlap'>, RunTurn>(),
    /** Waits for the client that sends the input. */
    awaitInput: slot<RunConnect, SlotOutput>(),
    startRun: slot<RunStart, StartedRun>(),
    followRun: slot<RunFollow, FollowedRun>(),
    /** Sends SIGTERM, after ten seconds SIGKILL, then collects the remaining output. */
    stopRun: slot<RunSlot, EndedRun>(),
    /** Writes the last line of the log, then removes the container and everything else of the run. */
    clearRun: slot<RunSlot & { outcome: string }, SlotOutput>(),
  },
  guards: {
    takesInput: ({ context }) => context.stdin,
    hasSucceeded: (_, { trouble }: FollowedRun) => trouble === null,
    isWithdrawn: (_, { code }: SlotFailure) => code === 'withdrawn',
  },
  actions: {
    recordTurn: assign((_, { deployId, image, command, at }: RunTurn) => ({
      deployId,
      image,
      command,
      inputUntil: Date.parse(at) + inputWaitMs,
    })),
    recordFailure: assign((_, failure: SlotFailure) => ({
      error: problemOf(failure),
      finishedAt: failure.at,
    })),
    recordCancel: assign((_, { at, by }: { at: string; by: string }) => ({
      error: { code: 'canceled', message: `canceled by ${by}` },
      finishedAt: at,
    })),
    /** A run that is canceled during its start may have started shortly after its cancellation. */
    recordStop: assign(({ context }, { exitCode, startedAt }: EndedRun) => ({
      exitCode,
      startedAt: context.startedAt ?? (startedAt && [startedAt, context.finishedAt!].sort()[0]!),
    })),
    recordEnd: assign(({ context }, { exitCode, startedAt, finishedAt, at }: EndedRun) => ({
      exitCode: exitCode ?? context.exitCode,
      startedAt: context.startedAt ?? startedAt,
      // Docker may report a start after the end if both are within a few milliseconds.
      finishedAt: [context.startedAt ?? startedAt ?? '', finishedAt ?? at].sort()[1]!,
    })),
  },
})

const slotInput = ({ context: { id, serviceId } }: { context: JobRunContext }): RunSlot => ({ id, serviceId })
const recordTurn = {
  type: 'recordTurn',
  params: ({ event }: { event: { output: RunTurn } }) => event.output,
} as const
const recordFailure = { type: 'recordFailure', params: failureOf } as const

/** The suspension or deletion of a service cancels its runs. Every other error is a failure. */
const failingTo = (target: string) =>
  [
    {
      guard: { type: 'isWithdrawn', params: failureOf },
      target: '#job-run.canceling',
      actions: recordFailure,
    },
    { target, actions: recordFailure },
  ] as const

const canceling = {
  target: '#job-run.canceling',
  actions: { type: 'recordCancel', params: ({ event }: { event: { at: string; by: string } }) => event },
} as const

/** When the run times out: ms since 1970. */
function endOf(startedAt: string, { timeoutSeconds }: JobRunContext): number {
  return Date.parse(startedAt) + timeoutSeconds * 1000
}

/** The last line of the log. */
function outcomeOf({ error }: JobRunContext): string {
  if (error === null) return 'succeeded'
  if (error.code === 'canceled' || error.code === 'withdrawn') return error.message
  return `failed: ${error.message}`
}

const clearing = {
  id: 'clearRun',
  src: 'clearRun',
  input: ({ context }: { context: JobRunContext }) => ({
    ...slotInput({ context }),
    outcome: outcomeOf(context),
  }),
} as const

export const machine = jobRun.createMachine({
  id: 'job-run',
  description: 'One run of a command in a container of its own.',
  context: ({ input }) => ({
    ...input,
    deployId: null,
    inputUntil: null,
    inputEndedAt: null,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    error: null,
  }),
  initial: 'pending',
  states: {
    pending: {
      description: 'Waits for its turn.',
      on: { cancel: canceling },
      invoke: {
        id: 'awaitTurn',
        src: 'awaitTurn',
        input: ({ context }) => ({
          ...slotInput({ context }),
          command: context.command,
          overlap: context.overlap,
        }),
        onDone: [
          { guard: 'takesInput', target: 'connecting', actions: recordTurn },
          { target: 'running', actions: recordTurn },
        ],
        onError: failingTo('failing'),
      },
    },
    connecting: {
      description: 'Waits for the client that sends the input of the command.',
      on: { cancel: canceling },
      invoke: {
        id: 'awaitInput',
        src: 'awaitInput',
        input: ({ context }) => ({ ...slotInput({ context }), until: context.inputUntil! }),
        onDone: 'running',
        onError: failingTo('failing'),
      },
    },
    running: {
      description: 'Runs the command.',
      on: {
        cancel: canceling,
        'input.ended': { actions: assign(({ event }) => ({ inputEndedAt: event.at })) },
      },
      initial: 'starting',
      states: {
        starting: {
          description: 'Creates the container and starts it.',
          invoke: {
            id: 'startRun',
            src: 'startRun',
            input: ({ context }) => ({
              ...slotInput({ context }),
              deployId: context.deployId!,
              image: context.image,
              command: context.command,
              stdin: context.stdin,
            }),
            onDone: {
              target: 'following',
              actions: assign(({ event: { output } }) => ({ startedAt: output.startedAt })),
            },
            onError: failingTo('stopping'),
          },
        },
        following: {
          description: 'The command runs, and its output goes to the log.',
          invoke: {
            id: 'followRun',
            src: 'followRun',
            input: ({ context }) => ({
              ...slotInput({ context }),
              command: context.command,
              stdin: context.stdin,
              timeoutSeconds: context.timeoutSeconds,
              endsAt: endOf(context.startedAt!, context),
            }),
            onDone: [
              {
                guard: { type: 'hasSucceeded', params: ({ event }) => event.output },
                target: '#job-run.succeeding',
                actions: { type: 'recordEnd', params: ({ event }) => event.output },
              },
              {
                target: '#job-run.failing',
                actions: [
                  { type: 'recordEnd', params: ({ event }) => event.output },
                  assign(({ event }) => ({
                    error: { code: event.output.code, message: event.output.trouble! },
                  })),
                ],
              },
            ],
            onError: failingTo('stopping'),
          },
        },
        // The run has failed, but it is not over while its container may still run.
        stopping: {
          description: 'The run failed: stops its container.',
          invoke: {
            id: 'stopRun',
            src: 'stopRun',
            input: slotInput,
            onDone: {
              target: '#job-run.failing',
              actions: { type: 'recordEnd', params: ({ event }) => event.output },
            },
          },
        },
      },
    },
    canceling: {
      description: 'Canceled: ends the run.',
      initial: 'stopping',
      states: {
        stopping: {
          description: 'Asks the command to stop. After ten seconds it is killed.',
          invoke: {
            id: 'stopRun',
            src: 'stopRun',
            input: slotInput,
            onDone: {
              target: 'clearing',
              actions: {
                type: 'recordStop',
                params: ({ event }: { event: { output: EndedRun } }) => event.output,
              },
            },
          },
        },
        clearing: {
          description: 'Removes the container.',
          invoke: { ...clearing, onDone: '#job-run.canceled' },
        },
      },
    },
    succeeding: {
      description: 'The command succeeded: removes the container.',
      invoke: { ...clearing, onDone: 'succeeded' },
    },
    failing: {
      description: 'The run failed: removes the container.',
      invoke: { ...clearing, onDone: 'failed' },
    },
    succeeded: { description: 'The command succeeded.', type: 'final' },
    failed: { description: 'The command failed, or could not run.', type: 'final' },
    canceled: { description: 'Ended on request, or with its service.', type: 'final' },
  },
})

export type JobRunSnapshot = SnapshotFrom<typeof machine>

const statuses: Record<string, 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled'> = {
  pending: 'pending',
  connecting: 'pending',
  running: 'running',
  succeeding: 'succeeded',
  succeeded: 'succeeded',
  failing: 'failed',
  failed: 'failed',
  canceling: 'canceled',
  canceled: 'canceled',
}

/** A failed run is not over while its container may still run. */
export function toRecord(snapshot: JobRunSnapshot) {
  const { context } = snapshot
  const root = rootState(snapshot)
  return {
    id: context.id,
    service_id: context.serviceId,
    deploy_id: context.deployId,
    command: context.command,
    image: context.image,
    status: statuses[root]!,
    trigger: context.trigger,
    scheduled_for: context.scheduledFor,
    overlap: context.overlap,
    timeout_seconds: context.timeoutSeconds,
    stdin: context.stdin,
    input_ended_at: context.inputEndedAt,
    exit_code: context.exitCode,
    ...problemFields(hasEnded(root) ? context.error : null),
    created_at: context.at,
    started_at: context.startedAt,
    finished_at: hasEnded(root) ? context.finishedAt : null,
    deadline_at: deadlineOf(snapshot),
  }
}

/** Null until its command starts, and after its end. */
function deadlineOf(snapshot: JobRunSnapshot): string | null {
  const { startedAt, error } = snapshot.context
  if (startedAt === null || error || rootState(snapshot) !== 'running') return null
  return new Date(endOf(startedAt, snapshot.context)).toISOString()
}

export type JobRunRecord = ReturnType<typeof toRecord>

const hasEnded = (root: string) => !['pending', 'connecting', 'running'].includes(root)
