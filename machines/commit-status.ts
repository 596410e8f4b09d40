// Reports a deploy to the git provider as the status of its commit. Only the newest state is sent: what came
// before it does not matter. A failure of a report changes nothing about the deploy.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { rootState } from './root-state.ts'
import { failureOf, type SlotFailure, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['sendStatus', 'awaitRetry'] as const

export const readers = ['sendStatus'] as const

export type CommitState = 'pending' | 'success' | 'failure' | 'canceled'

export interface CommitStatusInput {
  id: string
  deployId: string
  serviceId: string
  connectionId: string
  /** Its path at the provider, as in `ada/shop`. */
  repository: string
  /** The name of the status among those of the commit, as in `berth/shop`. */
  label: string
  at: string
}

/** `hasEnded`: nothing more will be reported. */
export interface News extends SlotOutput {
  hasEnded: boolean
}

export interface SendStatusInput extends SlotInput, Omit<CommitStatusInput, 'id' | 'at'> {
  /** The log of the deploy names an earlier failure. */
  hasWarned: boolean
}

/** What the provider got, or refused. The state is null if there was nothing to report. */
export interface Reported extends SlotOutput {
  state: CommitState | null
  /** No other state follows. */
  isFinal: boolean
  refusal: Problem | null
}

export interface Pause extends SlotOutput {
  /** The service is removed: nothing waits for the provider any more. */
  isGone: boolean
}

interface CommitStatusContext extends CommitStatusInput {
  /** The newest state that the provider accepted or refused. */
  reported: CommitState | null
  problem: Problem | null
  failures: number
  failingSince: string | null
  retryAt: number | null
  hasWarned: boolean
  /** The last action, shown in the history. */
  deed: string | null
  finishedAt: string | null
}

const firstPauseMs = 10_000
const maxPauseMs = 10 * 60_000
/** An outage of a provider may last for hours. */
const giveUpAfterMs = 12 * 60 * 60_000

const commitStatus = setup({
  types: {} as { context: CommitStatusContext; input: CommitStatusInput },
  actors: {
    awaitNews: slot<
      SlotInput & { serviceId: string; deployId: string; reported: CommitState | null },
      News
    >(),
    sendStatus: slot<SendStatusInput, Reported>(),
    awaitRetry: slot<SlotInput & { serviceId: string; connectionId: string; wakeAt: number }, Pause>(),
  },
  guards: {
    hasEnded: (_, { hasEnded }: News) => hasEnded,
    hasNothing: (_, { state }: Reported) => state === null,
    isRefused: (_, { isFinal, refusal }: Reported) => isFinal && refusal !== null,
    isFinal: (_, { isFinal }: Reported) => isFinal,
    isGone: (_, { isGone }: Pause) => isGone,
    mayRetry: ({ context }, { at }: SlotFailure) =>
      Date.parse(at) - Date.parse(context.failingSince ?? at) < giveUpAfterMs,
  },
  actions: {
    recordReport: assign(({ context }, { state, refusal }: Reported) => ({
      reported: state,
      problem: refusal,
      failures: 0,
      failingSince: null,
      hasWarned: context.hasWarned || refusal !== null,
      deed: refusal === null ? `sent ${state}` : `${state} was refused: ${refusal.message}`,
    })),
    recordFailure: assign(({ context }, failure: SlotFailure) => {
      const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(context.failures, 20), maxPauseMs)
      const askedMs = Number(failure.details?.retry_after_ms ?? 0)
      const problem = problemOf(failure)
      return {
        problem,
        failures: context.failures + 1,
        failingSince: context.failingSince ?? failure.at,
        retryAt: Date.parse(failure.at) + Math.max(pauseMs, askedMs),
        hasWarned: true,
        deed: `failed: ${problem.message}`,
      }
    }),
    recordEnd: assign((_, { at }: SlotOutput) => ({ finishedAt: at })),
  },
})

const about = ({ context: { id, serviceId, deployId } }: { context: CommitStatusContext }) => ({
  id,
  serviceId,
  deployId,
})
const reportedOf = ({ event }: { event: { output: Reported } }) => event.output
const recorded = { type: 'recordReport', params: reportedOf } as const
const ended = { type: 'recordEnd', params: reportedOf } as const

export const machine = commitStatus.createMachine({
  id: 'commit-status',
  description: 'Reports a deploy to the git provider as the status of its commit.',
  context: ({ input }) => ({
    ...input,
    reported: null,
    problem: null,
    failures: 0,
    failingSince: null,
    retryAt: null,
    hasWarned: false,
    deed: null,
    finishedAt: null,
  }),
  initial: 'following',
  states: {
    following: {
      description: 'Waits until the deploy has a state that the provider does not know.',
      invoke: {
        id: 'awaitNews',
        src: 'awaitNews',
        input: ({ context }) => ({ ...about({ context }), reported: context.reported }),
        onDone: [
          {
            guard: { type: 'hasEnded', params: ({ event }) => event.output },
            target: 'ended',
            actions: { type: 'recordEnd', params: ({ event }) => event.output },
          },
          { target: 'sending' },
        ],
      },
    },
    sending: {
      description: 'Sends the state that the deploy has now.',
      invoke: {
        id: 'sendStatus',
        src: 'sendStatus',
        input: ({ context }) => ({
          ...about({ context }),
          connectionId: context.connectionId,
          repository: context.repository,
          label: context.label,
          hasWarned: context.hasWarned,
        }),
        onDone: [
          { guard: { type: 'hasNothing', params: reportedOf }, target: 'ended', actions: ended },
          { guard: { type: 'isRefused', params: reportedOf }, target: 'failed', actions: [recorded, ended] },
          { guard: { type: 'isFinal', params: reportedOf }, target: 'delivered', actions: [recorded, ended] },
          { target: 'following', actions: recorded },
        ],
        onError: [
          {
            guard: { type: 'mayRetry', params: failureOf },
            target: 'waiting',
            actions: { type: 'recordFailure', params: failureOf },
          },
          {
            target: 'failed',
            actions: [
              { type: 'recordFailure', params: failureOf },
              { type: 'recordEnd', params: failureOf },
            ],
          },
        ],
      },
    },
    waiting: {
      description: 'Waits before it sends again, or until its account is connected again.',
      exit: assign({ retryAt: null }),
      invoke: {
        id: 'awaitRetry',
        src: 'awaitRetry',
        input: ({ context: { id, serviceId, connectionId, retryAt } }) => ({
          id,
          serviceId,
          connectionId,
          wakeAt: retryAt!,
        }),
        onDone: [
          {
            guard: { type: 'isGone', params: ({ event }) => event.output },
            target: 'failed',
            actions: { type: 'recordEnd', params: ({ event }) => event.output },
          },
          { target: 'sending' },
        ],
      },
    },
    delivered: { description: 'The provider has the final state.', type: 'final' },
    failed: {
      description: 'The provider does not have the final state, and will not get it.',
      type: 'final',
    },
    ended: { description: 'There is nothing to report, or a newer deploy reports.', type: 'final' },
  },
})

export type CommitStatusSnapshot = SnapshotFrom<typeof machine>

type Status = 'following' | 'sending' | 'waiting' | 'delivered' | 'failed' | 'ended'

export function toRecord(snapshot: CommitStatusSnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    service_id: context.serviceId,
    deploy_id: context.deployId,
    status: rootState(snapshot) as Status,
    phase: context.deed,
    connection_id: context.connectionId,
    repository: context.repository,
    label: context.label,
    reported: context.reported,
    ...problemFields(context.problem),
    next_attempt_at: context.retryAt === null ? null : new Date(context.retryAt).toISOString(),
    created_at: context.at,
    finished_at: context.finishedAt,
  }
}

export type CommitStatusRecord = ReturnType<typeof toRecord>
