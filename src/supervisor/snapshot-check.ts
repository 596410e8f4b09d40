// Checks whether a stored snapshot can be restored. An actor whose snapshot does not fit is parked.
import type { AnyMachineSnapshot } from 'xstate'
import type { Kind } from '../../machines/index.ts'
import type { ActorRecord, ActorRow, ParkCode } from '../../storage/actors/actors.ts'
import { codeOf, messageOf } from '../errors.ts'

/** The snapshot, migrated to the current version. Throws if there is no migration. */
export function currentSnapshot(row: ActorRow, kind: Kind): unknown {
  if (row.version === kind.version) return row.snapshot
  if (!kind.migrate) throw new Error(`its snapshot has version ${row.version}, the chart has ${kind.version}`)
  return kind.migrate(row.snapshot, row.version)
}

/** The record that goes with a stored snapshot. Throws for a kind that no longer exists. */
export function recordOf(row: ActorRow, catalogue: Record<string, Kind>): ActorRecord {
  const kind = catalogue[row.kind]
  if (!kind) throw new Error(`unknown actor kind ${row.kind}`)
  return kind.toRecord(currentSnapshot(row, kind) as never) as ActorRecord
}

/** Throws when the chart does not know the stored state, or an effect that was under way in it. */
export function assertRestored(row: ActorRow, restored: AnyMachineSnapshot): void {
  if (restored.status !== 'active') throw new Error(`its snapshot does not fit: ${messageOf(restored.error)}`)
  // xstate silently drops a child with an unknown source: the actor would hang.
  const stored = Object.keys((row.snapshot as { children: object }).children)
  const missing = stored.find((child) => !restored.children[child])
  if (missing) throw new Error(`its effect ${missing} no longer exists`)
}

export function parkCodeFor(error: unknown): ParkCode {
  return codeOf(error) === 'row_damaged' ? 'row_damaged' : 'snapshot_misfit'
}
