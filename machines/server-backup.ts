// A backup of the whole server: one encrypted file, which is stored only after it was read back. Only the
// event `delete` removes a stored one. A failure removes only its own partial file.
import { assign, type SnapshotFrom, setup } from 'xstate'
import type { DatastoreKind } from './datastore/datastore-context.ts'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { rootState } from './root-state.ts'
import { failureOf, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const cleanups = ['discardFile', 'removeFile'] as const

export const held = ['pruneBackups'] as const

/** The record of a backup whose parked actor is discarded. Its file stays. */
export const discarded = { status: 'deleted' } as const

/** What is backed up first. */
export type FreshData = 'datastores' | 'disks'

/** A datastore or a disk in the backup, with the moment that its data shows; or why it is not in it. */
export interface DataPart {
  kind: DatastoreKind | 'disk'
  name: string
  copied_at: string
  error: string | null
}

export interface ServerBackupInput {
  id: string
  trigger: 'manual' | 'schedule'
  /** The name of its file or object. */
  file: string
  /** The name of its backup place; the folder of the server if it is missing. */
  place?: string
  freshData?: FreshData[]
  at: string
}

export type ServerBackupEvent = { type: 'delete'; at: string; by: string }

export interface FileSlot extends SlotInput {
  file: string
  place?: string
  freshData?: FreshData[]
}

export interface FileFacts {
  sizeBytes: number
  sha256: string
}

export interface WrittenFile extends SlotOutput, FileFacts {
  /** The recovery key that it needs. */
  keyFingerprint: string
  data: DataPart[]
}

interface ServerBackupContext extends ServerBackupInput {
  phase: 'writing' | 'checking' | null
  error: Problem | null
  sizeBytes: number | null
  sha256: string | null
  keyFingerprint: string | null
  /** Missing in backups of earlier versions. */
  data?: DataPart[]
  finishedAt: string | null
}

const serverBackup = setup({
  types: {} as { context: ServerBackupContext; input: ServerBackupInput; events: ServerBackupEvent },
  actors: {
    writeBackup: slot<FileSlot, WrittenFile>(),
    checkBackup: slot<FileSlot & FileFacts, SlotOutput>(),
    discardFile: slot<FileSlot, SlotOutput>(),
    pruneBackups: slot<SlotInput, SlotOutput>(),
    removeFile: slot<FileSlot, SlotOutput>(),
  },
  actions: {
    recordFailure: assign(({ event }) => ({ error: problemOf(failureOf({ event })) })),
  },
})

const slotInput = ({ context }: { context: ServerBackupContext }): FileSlot => {
  const { id, file, place, freshData } = context
  return { id, file, ...(place && { place }), ...(freshData && { freshData }) }
}

export const machine = serverBackup.createMachine({
  id: 'server-backup',
  description: 'Writes the whole server to an encrypted file, and reads it back.',
  context: ({ input }) => ({
    ...input,
    phase: null,
    error: null,
    sizeBytes: null,
    sha256: null,
    keyFingerprint: null,
    finishedAt: null,
  }),
  initial: 'running',
  states: {
    running: {
      description: 'Makes the backup.',
      on: { delete: 'deleting' },
      exit: assign({ phase: null }),
      initial: 'writing',
      states: {
        writing: {
          description: 'Copies the server, and writes the copy encrypted.',
          entry: assign({ phase: 'writing' }),
          invoke: {
            id: 'writeBackup',
            src: 'writeBackup',
            input: slotInput,
            onDone: {
              target: 'checking',
              actions: assign(({ event: { output } }) => ({
                sizeBytes: output.sizeBytes,
                sha256: output.sha256,
                keyFingerprint: output.keyFingerprint,
                data: output.data,
              })),
            },
            onError: { target: 'discarding', actions: 'recordFailure' },
          },
        },
        checking: {
          description: 'Reads the file back to compare its hash.',
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
              target: '#server-backup.stored',
              actions: assign(({ event: { output } }) => ({ finishedAt: output.at })),
            },
            onError: { target: 'discarding', actions: 'recordFailure' },
          },
        },
        discarding: {
          description: 'Removes the partial file.',
          invoke: {
            id: 'discardFile',
            src: 'discardFile',
            input: slotInput,
            onDone: {
              target: '#server-backup.failed',
              actions: assign(({ event: { output } }) => ({ finishedAt: output.at })),
            },
          },
        },
      },
    },
    stored: {
      description: 'The file is complete and was read back.',
      on: { delete: 'deleting' },
      initial: 'pruning',
      states: {
        pruning: {
          description: 'Deletes scheduled backups that are too old or too many.',
          invoke: {
            id: 'pruneBackups',
            src: 'pruneBackups',
            input: ({ context: { id } }) => ({ id }),
            onDone: 'kept',
          },
        },
        kept: { description: 'Kept until it is deleted.' },
      },
    },
    failed: { description: 'Failed. There is no file.', on: { delete: 'deleting' } },
    deleting: {
      description: 'Removes the file.',
      invoke: { id: 'removeFile', src: 'removeFile', input: slotInput, onDone: 'deleted' },
    },
    deleted: { description: 'The file is removed.', type: 'final' },
  },
})

export type ServerBackupSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: ServerBackupSnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    trigger: context.trigger,
    status: rootState(snapshot) as 'running' | 'stored' | 'failed' | 'deleting' | 'deleted',
    phase: context.phase,
    ...problemFields(context.error),
    place: context.place ?? 'folder',
    file: context.file,
    size_bytes: context.sizeBytes,
    sha256: context.sha256,
    key_fingerprint: context.keyFingerprint,
    data: context.data ?? [],
    created_at: context.at,
    finished_at: context.finishedAt,
  }
}

export type ServerBackupRecord = ReturnType<typeof toRecord>
