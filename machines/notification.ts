// A message to people through one channel: sent at least once. A message that may arrive twice says so.
// While a channel has too many messages, one of them takes along the others.
import { assign, type SnapshotFrom, setup } from 'xstate'
import type { Notice } from '../src/domain/notice.ts'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { rootState } from './root-state.ts'
import { failureOf, type SlotFailure, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['awaitTurn', 'awaitRetry', 'sendMessage'] as const

export interface NotificationInput {
  id: string
  channelId: string
  channelName: string
  notice: Notice
  /** Receivers recognize a repetition by it. */
  messageId: string
  maxTries: number
  /** An earlier sending may have arrived. */
  mayRepeat: boolean
  at: string
}

/** Other messages that this one stands for. */
export interface Folded {
  ids: string[]
  problems: number
  warnings: number
  infos: number
  /** Of the first ones. */
  titles: string[]
}

export interface Attempt {
  at: string
  ms: number
  /** What the receiver answered: the status of HTTP or SMTP; null without an answer. */
  response_status: number | null
  error_code: string | null
  error: string | null
}

export type NotificationEvent =
  | { type: 'cancel'; at: string; reason: string }
  | { type: 'fold'; at: string; into: string }
  | { type: 'retry'; at: string; by: string }

export interface SendInput extends SlotInput {
  channelId: string
  messageId: string
  notice: Notice
  folded: Folded | null
  tries: number
  /** The process that began to send: another one may send again what has arrived. */
  process: string
  mayRepeat: boolean
}

export interface Turn {
  process: string
  folded: Folded | null
}

export interface Sent {
  ms: number
  status: number
  isRepeat: boolean
}

interface NotificationContext extends NotificationInput {
  process: string
  folded: Folded | null
  foldedInto: string | null
  tries: number
  attempts: Attempt[]
  retryAt: number | null
  error: Problem | null
  finishedAt: string | null
}

/** Together about a day. */
const pausesSeconds = [10, 60, 300, 1800, 7200, 21_600, 50_400]
const maxAskedMs = 3_600_000
const maxAttemptsKept = 20

const notification = setup({
  types: {} as { context: NotificationContext; input: NotificationInput; events: NotificationEvent },
  actors: {
    awaitTurn: slot<SlotInput & { channelId: string; notice: Notice; tries: number }, SlotOutput & Turn>(),
    foldOthers: slot<SlotInput & { ids: string[] }, SlotOutput & { process: string }>(),
    sendMessage: slot<SendInput, SlotOutput & Sent>(),
    awaitRetry: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
  },
  guards: {
    hasOthers: (_, { folded }: Turn) => folded !== null,
    mayRetry: ({ context }, { details }: SlotFailure) =>
      context.tries < context.maxTries && details?.is_final === undefined,
  },
  actions: {
    recordTurn: assign(({ context }, { process, folded }: Turn) => ({
      process,
      folded: folded ?? context.folded,
    })),
    recordProcess: assign((_, { process }: { process: string }) => ({ process })),
    countTry: assign(({ context }) => ({ tries: context.tries + 1 })),
    recordSent: assign(({ context }, { at, ms, status, isRepeat }: SlotOutput & Sent) => ({
      attempts: withAttempt(context, { at, ms, response_status: status, error_code: null, error: null }),
      mayRepeat: context.mayRepeat || isRepeat,
      error: null,
      finishedAt: at,
    })),
    recordFailure: assign(({ context }, failure: SlotFailure) => ({
      attempts: withAttempt(context, attemptOf(failure)),
      mayRepeat: context.mayRepeat || failure.details?.may_have_arrived === 1,
      error: problemOf({ code: failure.code, message: failure.message, at: failure.at }),
    })),
    planRetry: assign(({ context }, { at, details }: SlotFailure) => {
      const pauseMs = pausesSeconds[Math.min(context.tries, pausesSeconds.length) - 1]! * 1000
      const askedMs = Number(details?.retry_after_ms ?? 0)
      return { retryAt: Date.parse(at) + Math.max(pauseMs, Math.min(askedMs, maxAskedMs)) }
    }),
    recordEnd: assign((_, { at }: { at: string }) => ({ finishedAt: at })),
    recordCancel: assign((_, { at, reason }: { at: string; reason: string }) => ({
      error: { code: 'withdrawn', message: reason },
      finishedAt: at,
    })),
  },
})

function withAttempt({ attempts }: NotificationContext, attempt: Attempt): Attempt[] {
  return [...attempts, attempt].slice(-maxAttemptsKept)
}

function attemptOf({ at, code, message, details }: SlotFailure): Attempt {
  const { status, ms } = details ?? {}
  const response_status = typeof status === 'number' ? status : null
  return { at, ms: typeof ms === 'number' ? ms : 0, response_status, error_code: code, error: message }
}

export const machine = notification.createMachine({
  id: 'notification',
  description: 'Sends a message to people through one channel.',
  context: ({ input }) => ({
    ...input,
    process: '',
    folded: null,
    foldedInto: null,
    tries: 0,
    attempts: [],
    retryAt: null,
    error: null,
    finishedAt: null,
  }),
  initial: 'queued',
  on: {
    cancel: {
      target: '.canceled',
      actions: { type: 'recordCancel', params: ({ event }) => event },
    },
  },
  states: {
    queued: {
      description: 'Waits for its turn: a channel gets only a few messages per minute.',
      invoke: {
        id: 'awaitTurn',
        src: 'awaitTurn',
        input: ({ context: { id, channelId, notice, tries } }) => ({ id, channelId, notice, tries }),
        onDone: [
          {
            guard: { type: 'hasOthers', params: ({ event: { output } }) => output },
            target: 'folding',
            actions: { type: 'recordTurn', params: ({ event: { output } }) => output },
          },
          {
            target: 'sending',
            actions: [{ type: 'recordTurn', params: ({ event: { output } }) => output }, 'countTry'],
          },
        ],
        onError: {
          target: 'failed',
          actions: [
            assign(({ event }) => ({ error: problemOf(failureOf({ event })) })),
            { type: 'recordEnd', params: failureOf },
          ],
        },
      },
      on: {
        fold: {
          target: 'folded',
          actions: [
            assign(({ event }) => ({ foldedInto: event.into })),
            { type: 'recordEnd', params: ({ event }) => event },
          ],
        },
      },
    },
    folding: {
      description: 'Takes along messages that wait, so that none of them is sent too.',
      invoke: {
        id: 'foldOthers',
        src: 'foldOthers',
        input: ({ context: { id, folded } }) => ({ id, ids: folded!.ids }),
        onDone: {
          target: 'sending',
          actions: [{ type: 'recordProcess', params: ({ event: { output } }) => output }, 'countTry'],
        },
      },
    },
    sending: {
      description: 'Sends it.',
      invoke: {
        id: 'sendMessage',
        src: 'sendMessage',
        input: ({ context }) => ({
          id: context.id,
          channelId: context.channelId,
          messageId: context.messageId,
          notice: context.notice,
          folded: context.folded,
          tries: context.tries,
          process: context.process,
          mayRepeat: context.mayRepeat,
        }),
        onDone: {
          target: 'delivered',
          actions: { type: 'recordSent', params: ({ event: { output } }) => output },
        },
        onError: [
          {
            guard: { type: 'mayRetry', params: failureOf },
            target: 'waiting',
            actions: [
              { type: 'recordFailure', params: failureOf },
              { type: 'planRetry', params: failureOf },
            ],
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
      description: 'Waits before the next attempt.',
      exit: assign({ retryAt: null }),
      invoke: {
        id: 'awaitRetry',
        src: 'awaitRetry',
        input: ({ context: { id, retryAt } }) => ({ id, wakeAt: retryAt! }),
        onDone: 'queued',
      },
      on: { retry: 'queued' },
    },
    delivered: { description: 'The receiver has accepted it.', type: 'final' },
    folded: { description: 'It is part of another message.', type: 'final' },
    failed: { description: 'It was not delivered, and is not tried again.', type: 'final' },
    canceled: { description: 'Its channel was disabled or deleted.', type: 'final' },
  },
})

export type NotificationSnapshot = SnapshotFrom<typeof machine>

type Status = 'queued' | 'folding' | 'sending' | 'waiting' | 'delivered' | 'folded' | 'failed' | 'canceled'

export function toRecord(snapshot: NotificationSnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    /** The owner in lists: the channel. */
    service_id: context.channelId,
    channel_id: context.channelId,
    channel: context.channelName,
    status: rootState(snapshot) as Status,
    message_id: context.messageId,
    notice: context.notice,
    may_be_repeat: context.mayRepeat,
    /** How many messages it stands for. */
    messages: 1 + (context.folded?.ids.length ?? 0),
    folded: context.folded,
    folded_into: context.foldedInto,
    attempts: context.attempts,
    ...problemFields(context.error),
    next_attempt_at: context.retryAt === null ? null : new Date(context.retryAt).toISOString(),
    created_at: context.at,
    finished_at: context.finishedAt,
  }
}

export type NotificationRecord = ReturnType<typeof toRecord>
