// The record of a removal before any of its steps has finished.
import { getInitialSnapshot } from 'xstate'
import { machine, type ServiceRemovalInput, toRecord } from '../../../machines/service-removal.ts'
import type { ActorRecord } from '../../../storage/actors/actors.ts'

export function recordOfRemoval(kind: string, id: string, input: object): ActorRecord {
  if (kind !== 'service-removal') return { id, status: 'deleting' }
  return toRecord(getInitialSnapshot(machine, input as ServiceRemovalInput))
}
