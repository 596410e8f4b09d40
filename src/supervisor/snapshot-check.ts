// Whether a stored snapshot may become an actor again. What does not fit parks the actor; it never starts
// from it.
import type { AnyMachineSnapshot } from 'xstate'
import type { Kind } from '../../machines/index.ts'
import type { ActorRecord, ActorRow, ParkCode } from '../../storage/actors/actors.ts'
import { codeOf, messageOf } from '../errors.ts'

/** A snapshot of an earlier version is migrated, or its actor parked: never started as it is. */
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
export function requireFit(row: ActorRow, restored: AnyMachineSnapshot): void {
  if (restored.status !== 'active') throw new Error(`its snapshot does not fit: ${messageOf(restored.error)}`)
  // xstate drops a child whose source is unknown without a word: the actor would hang.
  const stored = Object.keys((row.snapshot as { children: object }).children)
  const missing = stored.find((child) => !restored.children[child])
  if (missing) throw new Error(`its effect ${missing} is not known any more`)
}

/** What a failed restoration says of the snapshot. */
export function misfitCode(error: unknown): ParkCode {
  return codeOf(error) === 'row_damaged' ? 'row_damaged' : 'snapshot_misfit'
}
