// A backup of a datastore or a disk: a file at a backup place, good only after it was read back and checked.
// Only the event `delete` removes a good backup. A failure removes only its own partial file.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type DatastoreSubject, type DiskSubject, subjectFields } from './backup-subject.ts'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { rootState } from './root-state.ts'
import { failureOf, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['awaitRetry'] as const

export const cleanups = ['discardDump', 'removeBackup'] as const

export const readers = ['dumpDatastore', 'checkBackup'] as const

/** The record of a backup whose parked actor is discarded. Its file stays. */
export const discarded = { status: 'deleted' } as const

export type BackupSubject = (DatastoreSubject & { version: string }) | DiskSubject

interface BackupOrigin {
  id: string
  /** The name of its backup place; the folder if it is missing, as in earlier versions. */
  place?: string
  at: string
}

interface BackupTrigger {
  /** `final` before its datastore was deleted; `server` for a backup of the server, which deletes it. */
  trigger: 'manual' | 'schedule' | 'final' | 'server'
}

export type BackupInput = BackupOrigin & BackupTrigger & BackupSubject

export type BackupEvent = { type: 'delete'; at: string; by: string }

export type BackupSlotInput = BackupOrigin & BackupSubject

export interface DumpFacts {
  sizeBytes: number
  sha256: string
}

interface BackupProgress {
  phase: 'dumping' | 'checking' | 'waiting' | null
  attempts: number
  retryAt: number | null
  error: Problem | null
  sizeBytes: number | null
  sha256: string | null
  finishedAt: string | null
}

type BackupContext = BackupInput & BackupProgress

/** A scheduled backup is retried, because the data may be unavailable for a while. */
const scheduledAttempts = 4
const firstPauseMs = 60_000
const pauseFactor = 4

const backup = setup({
  types: {} as { context: BackupContext; input: BackupInput; events: BackupEvent },
  actors: {
    dumpDatastore: slot<BackupSlotInput, SlotOutput & DumpFacts>(),
    checkBackup: slot<BackupSlotInput & DumpFacts, SlotOutput>(),
    discardDump: slot<BackupSlotInput, SlotOutput>(),
    awaitRetry: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
    /** A disk has no schedule, and so no surplus. */
    pruneBackups: slot<SlotInput & { datastoreId: string | null }, SlotOutput>(),
    removeBackup: slot<BackupSlotInput, SlotOutput>(),
  },
  guards: {
    mayRetry: ({ context: { trigger, attempts } }) => trigger === 'schedule' && attempts < scheduledAttempts,
  },
  actions: {
    recordFailure: assign(({ event }) => ({ error: problemOf(failureOf({ event })) })),
  },
})

const slotInput = ({ context }: { context: BackupContext }): BackupSlotInput => {
  const { id, place, at } = context
  return { id, ...subjectOf(context), ...(place && { place }), at }
}

function subjectOf(context: BackupContext): BackupSubject {
  if (context.kind === 'disk') {
    const { kind, disk, serviceId, serviceName } = context
    return { kind, disk, serviceId, serviceName }
  }
  const { kind, datastoreId, datastoreName, version } = context
  return { kind, datastoreId, datastoreName, version }
}

export const machine = backup.createMachine({
  id: 'backup',
  description: 'Writes the data of a datastore or a disk to a file, and reads it back.',
  context: ({ input }) => ({
    ...input,
    phase: null,
    attempts: 0,
    retryAt: null,
    error: null,
    sizeBytes: null,
    sha256: null,
    finishedAt: null,
  }),
  initial: 'running',
  states: {
    running: {
      description: 'Makes the backup.',
      on: { delete: 'deleting' },
      exit: assign({ phase: null }),
      initial: 'dumping',
      states: {
        dumping: {
          description: 'Writes the data to a file.',
          entry: assign(({ context }) => ({ phase: 'dumping' as const, attempts: context.attempts + 1 })),
          invoke: {
            id: 'dumpDatastore',
            src: 'dumpDatastore',
            input: slotInput,
            onDone: {
              target: 'checking',
              actions: assign(({ event: { output } }) => ({
                sizeBytes: output.sizeBytes,
                sha256: output.sha256,
              })),
            },
            onError: { target: 'discarding', actions: 'recordFailure' },
          },
        },
        checking: {
          description: 'Reads the file back to check it.',
          entry: assign({ phase: 'checking' }),
          invoke: {
            id: 'checkBackup',
            src: 'checkBackup',
            input: ({ context }) => ({
              ...slotInput({ context }),
              sizeBytes: context.sizeBytes!,
              sha256: context.sha256!,
            }),
            onDone: {
              target: '#backup.good',
              actions: assign(({ event: { output } }) => ({ finishedAt: output.at, error: null })),
            },
            onError: { target: 'discarding', actions: 'recordFailure' },
          },
        },
        discarding: {
          description: 'Removes the partial file of a failed attempt.',
          invoke: {
            id: 'discardDump',
            src: 'discardDump',
            input: slotInput,
            onDone: [
              {
                guard: 'mayRetry',
                target: 'waiting',
                actions: assign(({ context, event: { output } }) => ({
                  retryAt: Date.parse(output.at) + firstPauseMs * pauseFactor ** (context.attempts - 1),
                })),
              },
              {
                target: '#backup.failed',
                actions: assign(({ event: { output } }) => ({ finishedAt: output.at })),
              },
            ],
          },
        },
        waiting: {
          description: 'Waits before the next attempt of a scheduled backup.',
          entry: assign({ phase: 'waiting' }),
          exit: assign({ retryAt: null }),
          invoke: {
            id: 'awaitRetry',
            src: 'awaitRetry',
            input: ({ context: { id, retryAt } }) => ({ id, wakeAt: retryAt! }),
            onDone: 'dumping',
          },
        },
      },
    },
    good: {
      description: 'The file is complete and was checked.',
      on: { delete: 'deleting' },
      initial: 'pruning',
      states: {
        pruning: {
          description: 'Deletes older backups beyond the number to keep.',
          invoke: {
            id: 'pruneBackups',
            src: 'pruneBackups',
            input: ({ context }) => ({
              id: context.id,
              datastoreId: context.kind === 'disk' ? null : context.datastoreId,
            }),
            onDone: 'kept',
          },
        },
        kept: { description: 'Kept until it is deleted.' },
      },
    },
    failed: { description: 'Failed. There is no file.', on: { delete: 'deleting' } },
    deleting: {
      description: 'Removes the file.',
      invoke: { id: 'removeBackup', src: 'removeBackup', input: slotInput, onDone: 'deleted' },
    },
    deleted: { description: 'The file is removed.', type: 'final' },
  },
})

export type BackupSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: BackupSnapshot) {
  const { context } = snapshot
  const status = rootState(snapshot)
  return {
    id: context.id,
    ...subjectFields(context),
    version: context.kind === 'disk' ? null : context.version,
    place: context.place ?? 'folder',
    trigger: context.trigger,
    status: status as 'running' | 'good' | 'failed' | 'deleting' | 'deleted',
    phase: context.phase,
    ...problemFields(context.error),
    attempts: context.attempts,
    next_attempt_at: context.retryAt === null ? null : new Date(context.retryAt).toISOString(),
    size_bytes: context.sizeBytes,
    sha256: context.sha256,
    created_at: context.at,
    finished_at: context.finishedAt,
  }
}

export type BackupRecord = ReturnType<typeof toRecord>
