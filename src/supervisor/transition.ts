// What one transition writes: snapshot, record, history entry and service patch, as plain JSON. And whether a
// stored snapshot can be restored: an actor whose snapshot does not fit is parked.
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate'
import { eventName } from '../../machines/graph.ts'
import type { Kind, ServiceEffect } from '../../machines/index.ts'
import type {
  ActorRecord,
  ActorRow,
  By,
  NewEntry,
  ParkCode,
  Transition,
} from '../../storage/actors/actors.ts'
import { codeOf, messageOf } from '../errors.ts'

export interface PlannedTransition {
  row: Pick<ActorRow, 'id' | 'kind' | 'revision' | 'restarts' | 'by'>
  before: AnyMachineSnapshot | null
  next: AnyMachineSnapshot
  event: EventObject
  eventId: string | null
  at: string
}

export type Step = Pick<PlannedTransition, 'before' | 'next' | 'event'>

/** Everything that the commit of a move writes. Pure: it uses the kind's own projections. */
export function toTransition(kind: Kind, machine: AnyStateMachine, move: PlannedTransition): Transition {
  const { before, next, event } = move
  const { revision, by = null } = move.row
  const record = { ...kind.toRecord(next as never), revision, by } as ActorRecord
  const service: ServiceEffect | null = kind.toService?.(next as never, before as never) ?? null
  const row: ActorRow = {
    ...move.row,
    service_id: (record.service_id as string | undefined) ?? null,
    version: kind.version,
    snapshot: machine.getPersistedSnapshot(next),
    final: next.status === 'done',
    parked: null,
  }
  const phase = (record.phase as string | null | undefined) ?? null
  const entry: NewEntry = {
    at: instantOf(event) ?? move.at,
    event: eventName(event.type),
    state: pathOf(next.value),
    status: record.status,
    phase,
    by: before === null ? by : senderOf(event),
  }
  return { row, record, entry, service, event: move.eventId }
}

/** Commands of the API carry their requester; events of effects carry the reason of the server. */
function senderOf(event: EventObject): By | null {
  const { asker, by } = event as { asker?: By; by?: string }
  return asker ?? (by === undefined ? null : { kind: 'server', id: null, name: by })
}

/** Time comes from events: commands carry `at`, and effects resolve and reject with it. */
function instantOf(event: EventObject): string | null {
  const { at, output, error } = event as { at?: string; output?: { at?: string }; error?: { at?: string } }
  return at ?? output?.at ?? error?.at ?? null
}

/** `running.building`; with regions the whole path in each: `wanted.life.available wanted.limits.settled`. */
export function pathOf(value: AnyMachineSnapshot['value'], around = ''): string {
  if (typeof value === 'string') return around + value
  const regions = Object.entries(value).map(([name, inner]) => pathOf(inner!, `${around}${name}.`))
  return regions.join(' ')
}

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
