// The content of the trash, from committed records: deleted datastores and disks.
import type { TrashPlan } from '../../../machines/datastore/datastore-context.ts'
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { DiskRemovalRecord } from '../../../machines/disk-removal.ts'
import type { Storage } from '../../../storage/index.ts'
import type { TrashEntry } from '../../api/trash.ts'
import { notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'

const dayMs = 24 * 60 * 60 * 1000

export type Trashed =
  | { kind: 'datastore'; record: DatastoreRecord & { trash: NonNullable<DatastoreRecord['trash']> } }
  | { kind: 'disk'; record: DiskRemovalRecord & { expires_at: string } }

/** When an object that is deleted now expires; null if it is removed immediately. */
export function trashExpiry({ config }: HttpContext, isPurged: boolean): string | null {
  if (isPurged || config.trashDays === 0) return null
  return new Date(Date.now() + config.trashDays * dayMs).toISOString()
}

/** The trash settings of a datastore that is deleted now; null if nothing is retained. */
export function trashPlanFor(context: HttpContext, isPurged: boolean): TrashPlan | null {
  const expiresAt = trashExpiry(context, isPurged)
  return expiresAt === null ? null : { expiresAt, backupId: context.storage.ids.newId('bak') }
}

export function listTrashed(context: HttpContext): Trashed[] {
  const { storage } = context
  const datastores = storage.datastores.listAll().map(({ id }) => id)
  const disks = [...storage.actors.active('disk-removal')].map(({ id }) => id)
  const found = [...datastores, ...disks].map((id) => trashedOf(storage, id))
  return [...found.filter((trashed) => trashed !== null), ...pendingDiskRemovals(context)].sort((a, b) =>
    deletedAt(a) < deletedAt(b) ? 1 : -1,
  )
}

export function findTrashed(context: HttpContext, id: string): Trashed {
  const found =
    trashedOf(context.storage, id) ?? pendingDiskRemovals(context).find(({ record }) => record.id === id)
  if (!found) throw notFound('the trash has no such entry')
  return found
}

/** Disks of services that are being deleted. Their removal starts when no instance is running. */
function pendingDiskRemovals({ storage, diskOf }: HttpContext): Trashed[] {
  return [...storage.actors.active('service-removal')].flatMap(({ id: serviceId }) => {
    const removal = storage.actors.record<'service-removal'>(serviceId)
    const row = storage.services.get(serviceId)
    // The record of a removal that an older version started has no plan.
    if (!removal?.trash || !row || row.disk_mount_path === null) return []
    const { id, service_name, expires_at } = removal.trash
    if (storage.actors.record(id) !== null) return []
    const { created_at } = removal
    const known = { id, service_id: serviceId, service_name, disk: diskOf(row), mount_path: null, created_at }
    const record = { ...known, status: 'measuring' as const, size_bytes: null, expires_at }
    return [{ kind: 'disk' as const, record }]
  })
}

/** Null if the object is not in the trash, or is being removed. */
function trashedOf({ actors }: Storage, id: string): Trashed | null {
  if (id.startsWith('dsk-')) {
    const record = actors.record<'disk-removal'>(id)
    if (record === null) return null
    const { expires_at, status } = record
    if (expires_at === null || (status !== 'trashed' && status !== 'measuring')) return null
    return { kind: 'disk', record: { ...record, expires_at } }
  }
  if (!id.startsWith('dst-')) return null
  const record = actors.record<'datastore'>(id)
  return record?.trash ? { kind: 'datastore', record: { ...record, trash: record.trash } } : null
}

function deletedAt(trashed: Trashed): string {
  return trashed.kind === 'disk' ? trashed.record.created_at : trashed.record.trash.deleted_at
}

export function toTrashEntry(trashed: Trashed): TrashEntry {
  const shared = {
    id: trashed.record.id,
    status: trashed.record.status === 'trashed' ? ('kept' as const) : ('deleting' as const),
    deleted_at: deletedAt(trashed),
  }
  if (trashed.kind === 'disk') {
    const { disk, mount_path = null, service_name, size_bytes, expires_at } = trashed.record
    const nothing = { datastore_kind: null, version: null, backup_id: null }
    return {
      ...shared,
      kind: 'disk',
      name: disk,
      ...nothing,
      service_name,
      mount_path,
      size_bytes,
      expires_at,
    }
  }
  const { name, kind, version, trash } = trashed.record
  const { backup_id, size_bytes, expires_at } = trash
  const was = { datastore_kind: kind, version, service_name: null, mount_path: null }
  return { ...shared, kind: 'datastore', name, ...was, backup_id, size_bytes, expires_at }
}
