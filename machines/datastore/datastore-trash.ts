// A deleted datastore: a final backup, then its container is removed and its volume stays in the trash.
// The volume is removed at its expiry or on request. Until then the datastore can be restored.

import { problemOf } from '../problem.ts'
import type { SlotFailure, SlotOutput } from '../slot.ts'
import {
  type DatastoreContext,
  type DatastoreEvent,
  type SaveOutput,
  slotInput,
  type TrashOutput,
} from './datastore-context.ts'

type TrashArgs = { context: DatastoreContext }
type Deletion = Extract<DatastoreEvent, { type: 'delete' }>
type Reclaim = Extract<DatastoreEvent, { type: 'reclaim' }>

export const planTrash = {
  type: 'recordTrash',
  params: ({ event }: { event: Deletion }) => ({ deletedAt: event.at, ...event.keep }),
} as const

/** For a datastore that is not available: no final backup is possible. */
export const planTrashOnly = {
  type: 'recordTrash',
  params: ({ event }: { event: Deletion }) => ({ deletedAt: event.at, ...event.keep, backupId: null }),
} as const

const on = { delete: { guard: 'isDiscarded', target: 'deleting' } } as const

export const trashStates = {
  saving: {
    on,
    entry: { type: 'enterPhase', params: { phase: 'saving' } },
    invoke: {
      id: 'saveDatastore',
      src: 'saveDatastore',
      input: ({ context }: TrashArgs) => ({ ...slotInput({ context }), backupId: context.trash!.backupId! }),
      onDone: [
        {
          guard: { type: 'isGood', params: ({ event }: { event: { output: SaveOutput } }) => event.output },
          target: 'trashing',
        },
        { target: 'trashing', actions: { type: 'recordTrash', params: { backupId: null } } },
      ],
    },
  },
  trashing: {
    on,
    entry: { type: 'enterPhase', params: { phase: 'stopping' } },
    invoke: {
      id: 'trashDatastore',
      src: 'trashDatastore',
      input: ({ context: { id } }: TrashArgs) => ({ id }),
      onDone: [
        {
          guard: {
            type: 'hasVolume',
            params: ({ event }: { event: { output: TrashOutput } }) => event.output,
          },
          target: 'trashed',
          actions: {
            type: 'recordTrash',
            params: ({ event }: { event: { output: TrashOutput } }) => ({
              sizeBytes: event.output.sizeBytes,
            }),
          },
        },
        { target: 'deleting' },
      ],
    },
  },
  trashed: {
    on: {
      ...on,
      reclaim: {
        target: 'reclaiming',
        actions: {
          type: 'recordTrash',
          params: ({ event }: { event: Reclaim }) => ({ wantedName: event.name, trouble: null }),
        },
      },
    },
    entry: { type: 'enterPhase', params: { phase: null } },
    invoke: {
      id: 'awaitExpiry',
      src: 'awaitExpiry',
      input: ({ context: { id, trash } }: TrashArgs) => ({ id, wakeAt: Date.parse(trash!.expiresAt) }),
      onDone: 'deleting',
    },
  },
  reclaiming: {
    invoke: {
      id: 'reclaimDatastore',
      src: 'reclaimDatastore',
      input: ({ context: { id, trash } }: TrashArgs) => ({ id, name: trash!.wantedName! }),
      onDone: {
        target: 'wanted',
        actions: {
          type: 'applyRestore',
          params: ({ event }: { event: { output: SlotOutput } }) => event.output,
        },
      },
      onError: {
        target: 'trashed',
        actions: {
          type: 'recordTrash',
          params: ({ event }: { event: { error: unknown } }) => ({
            trouble: problemOf(event.error as SlotFailure),
          }),
        },
      },
    },
  },
} as const
