// Actors in responses, with the effects of retrying or discarding a parked one.
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { ActorRecord, HistoryEntry, ListedActor, ParkedActor } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { Actor } from '../../api/actor.ts'
import { notFound } from '../../errors.ts'
import { acceptedIn, charts } from './chart.ts'
import { nextBackupAt } from './datastore-record.ts'
import { nextRunAt } from './schedule-record.ts'

const onRetry = 'it continues where it left off'
const onDiscard =
  'it ends, and nothing supervises it any more; its containers, volumes, images and files stay'

/** What the server or an administrator did with an actor. Its state does not exist in the chart. */
export function isAside({ event }: HistoryEntry): boolean {
  return event === 'parked' || event === 'discarded'
}

/** Throws `not_found`. */
export function findActor(storage: Storage, id: string): Actor {
  const found = storage.actors.find(id)
  if (!found) throw notFound('there is no such actor')
  return toActor(storage, found)
}

export function toActor(storage: Storage, actor: ListedActor): Actor {
  const { actors } = storage
  const { id, service_id, group } = actor
  // An actor of a kind of a newer server is parked.
  const chart = charts.get(actor.kind)
  const record = actors.record(id)
  const row = actors.getOrNull(id)
  // A discarded actor was parked before.
  const entries = actors.newestHistory(id, 3)
  const state = stateOf(entries)
  return {
    id,
    kind: actor.kind,
    service_id,
    service_name: service_id && (storage.nameOf(service_id) ?? ((record?.channel as string) || null)),
    status: record?.status ?? 'failed',
    state,
    revision: entries.at(-1)?.revision ?? 0,
    restarts: row?.restarts ?? null,
    version: row?.version ?? null,
    current_version: chart?.kind.version ?? null,
    since: entries.at(-1)?.at ?? null,
    next_at: group === 'active' && record ? nextAt(storage, actor, record) : null,
    parked: group === 'parked' ? toParked(actors.withNote(actor)) : null,
    accepts: group === 'active' && chart && state ? acceptedIn(chart, state) : [],
  }
}

export function stateOf(entries: readonly HistoryEntry[]): string | null {
  return entries.findLast((entry) => !isAside(entry))?.state ?? null
}

function toParked({ at: since, code, reason }: ParkedActor): Actor['parked'] {
  return { since, code, reason, on_retry: onRetry, on_discard: onDiscard }
}

/** A retry comes before what is planned. */
function nextAt(storage: Storage, { kind, service_id }: ListedActor, record: ActorRecord): string | null {
  if (record.next_attempt_at) return record.next_attempt_at as string
  if (kind === 'certificate') return record.renews_at as string | null
  if (kind === 'datastore') return nextBackupAt(record as DatastoreRecord & ActorRecord)
  const service = kind === 'cron-schedule' ? storage.services.get(service_id!) : null
  // The actor outlives the schedule for a moment.
  return service?.schedule ? nextRunAt(storage, service) : null
}

export function parkedReason({ actors }: Storage, serviceId: string, live: string | null): string | null {
  const kinds = ['service-removal', 'auto-deploy', 'cron-schedule', 'certificate']
  const found = [
    ...[...actors.parked('deploy', serviceId)].filter(({ id }) => id === live),
    ...kinds.flatMap((kind) => [...actors.parked(kind, serviceId)]),
  ]
  const [first] = found
  if (first) return `the ${first.kind} ${first.id} is parked: ${first.reason}; berth retry ${first.id}`
  const isDiscarded = live !== null && isFailed(actors.record(live)?.status)
  return isDiscarded
    ? `the live deploy ${live} was discarded: its instances are not supervised; deploy again`
    : null
}

function isFailed(status: unknown): boolean {
  return status === 'failed'
}
