// A change in the feed. Derived states are read when it is sent: they may be newer than it, but not older.
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Change } from '../../../storage/store/changes.ts'
import type { FeedChange } from '../../api/feed.ts'
import { scheduleStatus } from './schedule-record.ts'
import { stateOf } from './service-record.ts'

export function toFeedChange(storage: Storage, { number: _, ...change }: Change): FeedChange {
  const view = views[change.kind]?.(storage, change)
  return { ...change, ...view } as FeedChange
}

type View = (storage: Storage, change: Omit<Change, 'number'>) => Omit<FeedChange, 'transition'>

const views: Record<string, View> = {
  service: toServiceChange,
  'auto-deploy': toServiceChange,
  'commit-status': toServiceChange,
  'service-removal': toServiceChange,
  'cron-schedule': toScheduleChange,
  'disk-chown': toDiskChange,
  'disk-removal': toDiskChange,
}

function toServiceChange(storage: Storage, { service_id: id }: Omit<Change, 'number'>): ReturnType<View> {
  const row = rowOf(storage, id)
  const change = { kind: 'service' as const, id: id!, service_id: id }
  if (!row) return { ...change, status: row === null ? 'deleted' : null, revision: null }
  return { ...change, status: stateOf(storage, row), revision: row.revision }
}

/** A schedule has no id; it uses the id of its service. */
function toScheduleChange(storage: Storage, change: Omit<Change, 'number'>): ReturnType<View> {
  const { service_id, revision } = change
  const row = rowOf(storage, service_id)
  const known = row?.schedule ? scheduleStatus(storage, row) : 'deleted'
  const status = row === undefined ? null : known
  return { kind: 'schedule', id: service_id!, service_id, status, revision }
}

/** Undefined for a damaged row, because the conversion of a change must not throw. */
function rowOf({ services }: Storage, id: string | null): ServiceRow | null | undefined {
  try {
    return services.get(id!)
  } catch {
    return undefined
  }
}

const diskStates: Record<string, string> = {
  running: 'attached',
  succeeded: 'attached',
  measuring: 'trashed',
  removing: 'deleting',
  removed: 'deleted',
  restored: 'kept',
}

/** The trash contains the disk. Its id in the API is its name. */
function toDiskChange({ actors }: Storage, change: Omit<Change, 'number'>): ReturnType<View> {
  const { id, service_id, status } = change
  const disk = actors.record(id)?.disk
  const name = typeof disk === 'string' ? disk : id
  return { kind: 'disk', id: name, service_id, status: diskStates[status!] ?? status, revision: null }
}
