// A change of the owner of all files of a disk. It can be repeated: after a crash it starts again.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type Problem, problemFields, problemOf } from './problem.ts'
import { failureOf, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const readers = ['changeOwner'] as const

export interface DiskChownInput {
  id: string
  disk: string
  serviceId: string
  /** As in `USER` of a Dockerfile; null for the user of the live image. */
  owner: string | null
  at: string
}

export interface ChownInput extends SlotInput {
  disk: string
  serviceId: string
  owner: string | null
}

export interface ChangedOwner extends SlotOutput {
  uid: number
  gid: number
}

interface DiskChownContext extends DiskChownInput {
  uid: number | null
  gid: number | null
  error: Problem | null
  finishedAt: string | null
}

const chown = setup({
  types: {} as { context: DiskChownContext; input: DiskChownInput },
  actors: { changeOwner: slot<ChownInput, ChangedOwner>() },
})

export const machine = chown.createMachine({
  id: 'disk-chown',
  description: 'Gives all files of a disk to another user.',
  context: ({ input }) => ({ ...input, uid: null, gid: null, error: null, finishedAt: null }),
  initial: 'running',
  states: {
    running: {
      description: 'Changes the owner of every file.',
      invoke: {
        id: 'changeOwner',
        src: 'changeOwner',
        input: ({ context: { id, disk, serviceId, owner } }) => ({ id, disk, serviceId, owner }),
        onDone: {
          target: 'succeeded',
          actions: assign(({ event: { output } }) => ({
            uid: output.uid,
            gid: output.gid,
            finishedAt: output.at,
          })),
        },
        onError: {
          target: 'failed',
          actions: assign(({ event }) => {
            const failure = failureOf({ event })
            return { error: problemOf(failure), finishedAt: failure.at }
          }),
        },
      },
    },
    succeeded: { description: 'All files have the new owner.', type: 'final' },
    failed: { description: 'Failed. Some files may have the new owner.', type: 'final' },
  },
})

export type DiskChownSnapshot = SnapshotFrom<typeof machine>

export function toRecord({ context, value }: DiskChownSnapshot) {
  return {
    id: context.id,
    service_id: context.serviceId,
    disk: context.disk,
    owner: context.owner,
    uid: context.uid,
    gid: context.gid,
    status: value,
    ...problemFields(context.error),
    created_at: context.at,
    finished_at: context.finishedAt,
  }
}

export type DiskChownRecord = ReturnType<typeof toRecord>
