// A small durable machine for the supervisor's tests: work, cancel with cleanup, and several failures.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type SlotFailure, type SlotInput, type SlotOutput, slot } from '../../../machines/slot.ts'

interface SampleContext {
  id: string
  deadlineAt: number | undefined
  notes: number
  error: string | null
}

type SampleEvent = { type: 'cancel' | 'note' | 'explode' | 'finish'; at: string }

export const version = 2

export const machine = setup({
  types: {} as {
    context: SampleContext
    input: { id: string; deadlineAt?: number; isOdd?: boolean }
    events: SampleEvent
  },
  actors: { work: slot<SlotInput, SlotOutput>(), clean: slot<SlotInput, SlotOutput>() },
}).createMachine({
  id: 'sample',
  context: ({ input: { id, deadlineAt, isOdd } }) => {
    if (isOdd) throw new Error('an odd sample has no context')
    return { id, deadlineAt, notes: 0, error: null }
  },
  initial: 'working',
  states: {
    working: {
      on: {
        cancel: 'cleaning',
        finish: 'done',
        note: { actions: assign(({ context }) => ({ notes: context.notes + 1 })) },
        explode: {
          actions: assign(() => {
            throw new Error('boom')
          }),
        },
      },
      invoke: {
        id: 'work',
        src: 'work',
        input: ({ context: { id, deadlineAt } }) => (deadlineAt === undefined ? { id } : { id, deadlineAt }),
        onDone: 'done',
        onError: {
          guard: ({ event }) => (event.error as SlotFailure).code !== 'bug',
          target: 'failed',
          actions: assign(({ event }) => ({ error: (event.error as SlotFailure).code })),
        },
      },
    },
    cleaning: {
      invoke: { id: 'clean', src: 'clean', input: ({ context: { id } }) => ({ id }), onDone: 'canceled' },
    },
    done: { type: 'final' },
    failed: { type: 'final' },
    canceled: { type: 'final' },
  },
})

export function toRecord(snapshot: SnapshotFrom<typeof machine>) {
  const { id, notes, error } = snapshot.context
  return { id, service_id: 'svc-1', status: snapshot.value, notes, error }
}
