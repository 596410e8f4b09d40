// The removal of a service: its deploys end first, then its belongings are removed, its name last.
// The actor's id is the service's own id, so a repeated request has no effect.
import { type SnapshotFrom, setup } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 2

/** Version 1 had no trash and removed a disk immediately. */
export function migrate(snapshot: unknown, _from: number): unknown {
  const old = snapshot as { context: object }
  return { ...old, context: { trash: null, ...old.context } }
}

export const cleanups = ['removeBelongings'] as const

export const readers = ['removeBelongings'] as const

/** The service can be used or deleted again. */
export const discarded = { status: 'failed', service: { deleting: false } } as const

export interface ServiceRemovalInput {
  id: string
  serviceId: string
  deleteDisk: boolean
  /** The disk's entry in the trash; null if the disk is kept outside the trash or removed immediately. */
  trash: DiskTrash | null
  at: string
}

export interface DiskTrash {
  /** Its volume. Missing in removals that an older version started. */
  disk?: string
  id: string
  serviceName: string
  expiresAt: string
}

interface RemovalSlotInput extends SlotInput {
  serviceId: string
}

const removal = setup({
  types: {} as { context: ServiceRemovalInput; input: ServiceRemovalInput },
  actors: {
    endDeploys: slot<RemovalSlotInput, SlotOutput>(),
    removeBelongings: slot<RemovalSlotInput & { deleteDisk: boolean }, SlotOutput>(),
    trashDisk: slot<RemovalSlotInput & { trash: DiskTrash }, SlotOutput>(),
  },
  guards: { isTrashed: ({ context }) => context.trash !== null },
})

export const machine = removal.createMachine({
  id: 'service-removal',
  description: 'Removes a service with what belongs to it, its name last.',
  context: ({ input }) => input,
  initial: 'ending',
  states: {
    ending: {
      description: 'Ends the deploys of the service.',
      invoke: {
        id: 'endDeploys',
        src: 'endDeploys',
        input: ({ context: { id, serviceId } }) => ({ id, serviceId }),
        onDone: 'clearing',
      },
    },
    clearing: {
      description: 'Removes what belongs to the service.',
      invoke: {
        id: 'removeBelongings',
        src: 'removeBelongings',
        input: ({ context: { id, serviceId, deleteDisk, trash } }) => ({
          id,
          serviceId,
          deleteDisk: deleteDisk && trash === null,
        }),
        onDone: [{ guard: 'isTrashed', target: 'trashing' }, { target: 'removed' }],
      },
    },
    // Only after the service's row is removed: a service in deletion accepts no actors.
    trashing: {
      description: 'Puts the disk of the service into the trash.',
      invoke: {
        id: 'trashDisk',
        src: 'trashDisk',
        input: ({ context: { id, serviceId, trash } }) => ({ id, serviceId, trash: trash! }),
        onDone: 'removed',
      },
    },
    removed: { description: 'The service is removed.', type: 'final' },
  },
})

export type ServiceRemovalSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: ServiceRemovalSnapshot) {
  const { id, serviceId, at, deleteDisk, trash } = snapshot.context
  const status = snapshot.matches('removed') ? 'removed' : 'deleting'
  return {
    id,
    service_id: serviceId,
    status,
    phase: status === 'deleting' ? snapshot.value : null,
    delete_disk: deleteDisk,
    /** The trash shows this entry until the removal of the disk begins. */
    trash: status === 'deleting' ? plannedTrash(trash) : null,
    created_at: at,
  }
}

function plannedTrash(trash: DiskTrash | null) {
  if (trash === null) return null
  const { id, serviceName: service_name, expiresAt: expires_at, disk = null } = trash
  return { id, service_name, expires_at, disk }
}

/** The service is `deleting` from the transaction that creates this actor. */
export function toService(snapshot: ServiceRemovalSnapshot) {
  return snapshot.matches('ending') ? { deleting: true } : null
}
