// The removal of a disk, or of the volume of an image: either immediately, or after its time in the trash. A
// restored disk is kept as it is, without a service. A restored volume of an image becomes the disk of its
// service with the transition.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['awaitExpiry'] as const

export const cleanups = ['removeDisk'] as const

/** The disk is kept, outside the trash. */
export const discarded = { status: 'restored' } as const

export interface DiskRemovalInput {
  id: string
  disk: string
  /** The path at which an instance had it, for the volume of an image. Missing for the disk of a service. */
  mountPath?: string
  serviceId: string
  serviceName: string
  /** Null for immediate removal. */
  expiresAt: string | null
  at: string
}

export type DiskRemovalEvent =
  | { type: 'purge'; at: string; by: string }
  | { type: 'restore'; at: string; by: string }

export interface DiskFacts extends SlotOutput {
  isThere: boolean
  /** Null if unknown. */
  sizeBytes: number | null
}

interface DiskRemovalContext extends DiskRemovalInput {
  sizeBytes: number | null
}

const removal = setup({
  types: {} as { context: DiskRemovalContext; input: DiskRemovalInput; events: DiskRemovalEvent },
  actors: {
    measureDisk: slot<SlotInput & { disk: string }, DiskFacts>(),
    awaitExpiry: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
    removeDisk: slot<SlotInput & { disk: string }, SlotOutput>(),
  },
  guards: {
    isKept: ({ context }) => context.expiresAt !== null,
    isThere: (_, { isThere }: { isThere: boolean }) => isThere,
  },
})

export const machine = removal.createMachine({
  id: 'disk-removal',
  description: 'Keeps a deleted disk in the trash, then removes it.',
  context: ({ input }) => ({ ...input, sizeBytes: null }),
  initial: 'deciding',
  states: {
    deciding: {
      description: 'Decides whether the disk goes to the trash.',
      always: [{ guard: 'isKept', target: 'measuring' }, { target: 'removing' }],
    },
    measuring: {
      description: 'Measures the disk for the list of the trash.',
      on: { purge: 'removing' },
      invoke: {
        id: 'measureDisk',
        src: 'measureDisk',
        input: ({ context: { id, disk } }) => ({ id, disk }),
        onDone: [
          {
            guard: { type: 'isThere', params: ({ event }) => event.output },
            target: 'trashed',
            actions: assign(({ event: { output } }) => ({ sizeBytes: output.sizeBytes })),
          },
          { target: 'removed' },
        ],
      },
    },
    trashed: {
      description: 'In the trash. It can be restored until it expires.',
      on: { purge: 'removing', restore: 'restored' },
      invoke: {
        id: 'awaitExpiry',
        src: 'awaitExpiry',
        input: ({ context: { id, expiresAt } }) => ({ id, wakeAt: Date.parse(expiresAt!) }),
        onDone: 'removing',
      },
    },
    removing: {
      description: 'Removes the disk with its data.',
      invoke: {
        id: 'removeDisk',
        src: 'removeDisk',
        input: ({ context: { id, disk } }) => ({ id, disk }),
        onDone: 'removed',
      },
    },
    restored: { description: 'Taken out of the trash.', type: 'final' },
    removed: { description: 'Removed with its data.', type: 'final' },
  },
})

export type DiskRemovalSnapshot = SnapshotFrom<typeof machine>

export function toRecord({ context, value }: DiskRemovalSnapshot) {
  return {
    id: context.id,
    service_id: context.serviceId,
    service_name: context.serviceName,
    disk: context.disk,
    mount_path: context.mountPath ?? null,
    status: value as Exclude<typeof value, 'deciding'>,
    size_bytes: context.sizeBytes,
    created_at: context.at,
    expires_at: context.expiresAt,
  }
}

/** The service gets the volume with the transition, so that a crash cannot leave it without an owner. */
export function toService({ context, value }: DiskRemovalSnapshot, before: DiskRemovalSnapshot | null) {
  const { disk, mountPath } = context
  if (value !== 'restored' || before?.value === 'restored' || mountPath === undefined) return null
  return { disk_mount_path: mountPath, disk_volume: disk }
}

export type DiskRemovalRecord = ReturnType<typeof toRecord>
