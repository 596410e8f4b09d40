// The move of a Postgres to another major version. Its data is copied to a new volume while no client can
// connect. Until the switch, a failure or a kill of berthd reopens the server on the volume that it had.
// After the switch that volume is in the trash, and a return to it is a switch without a copy.
import type { SlotFailure, SlotOutput } from '../slot.ts'
import { type DatastoreContext, type DatastoreEvent, slotInput } from './datastore-context.ts'

type Args = { context: DatastoreContext }
type Failed = { event: { error: unknown } }
type Done = { event: { output: SlotOutput } }

const input = ({ context }: Args) => ({ ...slotInput({ context }), upgrade: context.upgrade! })
const reopened = '#datastore.wanted.life.starting'
const phase = (name: 'checking' | 'copying' | 'switching') =>
  ({ type: 'enterPhase', params: { phase: name } }) as const
const failure = { type: 'failUpgrade', params: ({ event }: Failed) => event.error as SlotFailure } as const
const end = {
  type: 'endUpgrade',
  params: ({ event }: Failed) => ({ at: (event.error as SlotFailure).at }),
} as const

const canceled = {
  type: 'failUpgrade',
  params: ({ event }: { event: Extract<DatastoreEvent, { type: 'upgrade.cancel' }> }) => ({
    code: 'canceled',
    message: `canceled by ${event.by}`,
    at: event.at,
  }),
} as const

const recorded = {
  type: 'recordUpgrade',
  params: ({ event }: { event: Extract<DatastoreEvent, { type: 'upgrade' }> }) => event,
} as const
/** Possible also for a server that does not start. */
export const returnToFormer = {
  guard: 'isReturn',
  target: '#datastore.wanted.life.upgrading.switching',
  actions: recorded,
} as const
export const beginUpgrade = { target: '#datastore.wanted.life.upgrading', actions: recorded } as const

export const upgrading = {
  initial: 'checking',
  exit: { type: 'enterPhase', params: { phase: null } },
  states: {
    checking: {
      entry: phase('checking'),
      on: { 'upgrade.cancel': { target: 'undoing', actions: canceled } },
      invoke: {
        id: 'checkUpgrade',
        src: 'checkUpgrade',
        input,
        onDone: 'copying',
        onError: { target: reopened, actions: [failure, end] },
      },
    },
    copying: {
      entry: phase('copying'),
      on: { 'upgrade.cancel': { target: 'undoing', actions: canceled } },
      invoke: {
        id: 'copyData',
        src: 'copyData',
        input,
        onDone: 'switching',
        onError: { target: 'undoing', actions: failure },
      },
    },
    undoing: {
      invoke: {
        id: 'undoUpgrade',
        src: 'undoUpgrade',
        input,
        onDone: {
          target: reopened,
          actions: { type: 'endUpgrade', params: ({ event }: Done) => event.output },
        },
      },
    },
    switching: {
      entry: phase('switching'),
      invoke: {
        id: 'switchVolume',
        src: 'switchVolume',
        input,
        onDone: {
          target: reopened,
          actions: { type: 'switchVersion', params: ({ event }: Done) => event.output },
        },
        onError: { target: reopened, actions: [failure, end] },
      },
    },
  },
} as const
