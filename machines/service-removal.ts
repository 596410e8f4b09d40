// The removal of a service: its deploys end first, then all that belongs to it goes, its name last.
// Mind: the actor's id is the service's own id, so that asking twice is asking once.
import { type SnapshotFrom, setup } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const cleanups = ['removeBelongings'] as const

export interface ServiceRemovalInput {
  id: string
  serviceId: string
  deleteDisk: boolean
  at: string
}

interface RemovalSlotInput extends SlotInput {
  serviceId: string
}

const removal = setup({
  types: {} as { context: ServiceRemovalInput; input: ServiceRemovalInput },
  actors: {
    endDeploys: slot<RemovalSlotInput, SlotOutput>(),
    removeBelongings: slot<RemovalSlotInput & { deleteDisk: boolean }, SlotOutput>(),
  },
})

export const machine = removal.createMachine({
  id: 'service-removal',
  context: ({ input }) => input,
  initial: 'ending',
  states: {
    ending: {
      invoke: {
        id: 'endDeploys',
        src: 'endDeploys',
        input: ({ context: { id, serviceId } }) => ({ id, serviceId }),
        onDone: 'clearing',
      },
    },
    clearing: {
      invoke: {
        id: 'removeBelongings',
        src: 'removeBelongings',
        input: ({ context: { id, serviceId, deleteDisk } }) => ({ id, serviceId, deleteDisk }),
        onDone: 'removed',
      },
    },
    removed: { type: 'final' },
  },
})

export type ServiceRemovalSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: ServiceRemovalSnapshot) {
  const { id, serviceId, at, deleteDisk } = snapshot.context
  const status = snapshot.matches('removed') ? 'removed' : 'deleting'
  return {
    id,
    service_id: serviceId,
    status,
    phase: status === 'deleting' ? snapshot.value : null,
    delete_disk: deleteDisk,
    created_at: at,
  }
}

/** The service is `deleting` from the very transaction that makes this actor. */
export function toService(snapshot: ServiceRemovalSnapshot) {
  return snapshot.matches('ending') ? { deleting: true } : null
}
