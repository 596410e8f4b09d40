// A restore of a datastore or a disk: replaces its data with the contents of a file, completely or not at
// all. Before `switching`, no client sees a change, and everything can be undone. The switch is repeated
// until it is complete or was undone. A service gets its new volume with the transition to `switching`.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type DatastoreSubject, type DiskSubject, subjectFields } from './backup-subject.ts'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { failureOf, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const cleanups = ['tidyRestore', 'undoRestore'] as const

export const readers = ['checkFile', 'loadData'] as const

export interface DiskTarget extends DiskSubject {
  /** The volume that becomes the disk. */
  newDisk: string
}

export type RestoreInput = (DatastoreSubject | DiskTarget) & {
  id: string
  /** The backup to restore; null for an uploaded file. */
  backupId: string | null
  sizeBytes: number
  at: string
}

export type RestoreEvent = { type: 'cancel'; at: string; by: string }

interface RestoreOrigin extends SlotInput {
  backupId: string | null
}

export type DatastoreRestoreSlot = RestoreOrigin & { datastoreId: string }
export type DiskRestoreSlot = RestoreOrigin & DiskTarget
export type RestoreSlot = DatastoreRestoreSlot | DiskRestoreSlot

type RestoreContext = RestoreInput & {
  phase: 'checking' | 'loading' | 'switching' | null
  error: Problem | null
  finishedAt: string | null
}

const restore = setup({
  types: {} as { context: RestoreContext; input: RestoreInput; events: RestoreEvent },
  actors: {
    /** Reads the whole file. Fails for a truncated file or a wrong format. */
    checkFile: slot<RestoreSlot, SlotOutput>(),
    /** Loads the data next to the current data. */
    loadData: slot<RestoreSlot, SlotOutput>(),
    switchData: slot<RestoreSlot, SlotOutput>(),
    tidyRestore: slot<RestoreSlot, SlotOutput>(),
    undoRestore: slot<RestoreSlot, SlotOutput>(),
  },
  guards: {
    isCanceled: ({ context }) => context.error?.code === 'canceled',
  },
  actions: {
    finish: assign(({ event }) => ({ finishedAt: (event as unknown as { output: SlotOutput }).output.at })),
    recordFailure: assign(({ event }) => ({
      error: problemOf(failureOf({ event })),
    })),
    recordCancel: assign(({ event: { by } }) => ({
      error: { code: 'canceled', message: `canceled by ${by}` },
    })),
  },
})

const slotInput = ({ context }: { context: RestoreContext }): RestoreSlot => {
  const { id, backupId } = context
  if (context.kind !== 'disk') return { id, datastoreId: context.datastoreId, backupId }
  const { kind, disk, newDisk, serviceId, serviceName } = context
  return { id, backupId, kind, disk, newDisk, serviceId, serviceName }
}

export const machine = restore.createMachine({
  id: 'restore',
  description: 'Replaces the data of a datastore or a disk with the contents of a file.',
  context: ({ input }) => ({ ...input, phase: null, error: null, finishedAt: null }),
  initial: 'checking',
  states: {
    checking: {
      description: 'Reads the whole file, to refuse a damaged one.',
      on: { cancel: { target: 'undoing', actions: 'recordCancel' } },
      entry: assign({ phase: 'checking' }),
      invoke: {
        id: 'checkFile',
        src: 'checkFile',
        input: slotInput,
        onDone: 'loading',
        onError: { target: 'undoing', actions: 'recordFailure' },
      },
    },
    loading: {
      description: 'Loads the data next to the current data. No client sees a change.',
      on: { cancel: { target: 'undoing', actions: 'recordCancel' } },
      entry: assign({ phase: 'loading' }),
      invoke: {
        id: 'loadData',
        src: 'loadData',
        input: slotInput,
        onDone: 'switching',
        onError: { target: 'undoing', actions: 'recordFailure' },
      },
    },
    switching: {
      description: 'Puts the new data in the place of the current data.',
      entry: assign({ phase: 'switching' }),
      invoke: {
        id: 'switchData',
        src: 'switchData',
        input: slotInput,
        onDone: 'tidying',
        onError: { target: 'undoing', actions: 'recordFailure' },
      },
    },
    tidying: {
      description: 'The new data is in use: removes the former data.',
      entry: assign({ phase: null }),
      invoke: {
        id: 'tidyRestore',
        src: 'tidyRestore',
        input: slotInput,
        onDone: { target: 'done', actions: 'finish' },
      },
    },
    undoing: {
      description: 'Failed or canceled: keeps the former data, removes what was loaded.',
      entry: assign({ phase: null }),
      invoke: {
        id: 'undoRestore',
        src: 'undoRestore',
        input: slotInput,
        onDone: [
          { guard: 'isCanceled', target: 'canceled', actions: 'finish' },
          { target: 'failed', actions: 'finish' },
        ],
      },
    },
    done: { description: 'The new data is in use.', type: 'final' },
    failed: { description: 'Failed. The former data is in use.', type: 'final' },
    canceled: { description: 'Canceled. The former data is in use.', type: 'final' },
  },
})

export type RestoreSnapshot = SnapshotFrom<typeof machine>

/** The new data is in use from `tidying` on. */
const statuses = {
  checking: 'running',
  loading: 'running',
  switching: 'running',
  tidying: 'running',
  undoing: 'undoing',
  done: 'done',
  failed: 'failed',
  canceled: 'canceled',
} as const

export function toRecord(snapshot: RestoreSnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    ...subjectFields(context),
    new_disk: context.kind === 'disk' ? context.newDisk : null,
    backup_id: context.backupId,
    status: statuses[snapshot.value],
    phase: context.phase,
    ...problemFields(context.error && { ...context.error, code: codeOf(context.error) }),
    size_bytes: context.sizeBytes,
    created_at: context.at,
    finished_at: context.finishedAt,
  }
}

/** From here on every instance that starts gets the new volume, which is complete. */
export function toService({ context, value }: RestoreSnapshot, before: RestoreSnapshot | null) {
  if (context.kind !== 'disk' || value !== 'switching' || before?.value === 'switching') return null
  return { disk_volume: context.newDisk }
}

/** Backups and restores share the file check, whose error code names the backup. */
function codeOf({ code }: Problem): string {
  return code === 'backup_failed' ? 'damaged_file' : code
}

export type RestoreRecord = ReturnType<typeof toRecord>
