// The trash: deleted datastores and disks until their time is over.
import { z } from 'zod'
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { DiskRemovalRecord } from '../../../machines/disk-removal.ts'
import { RestoredTrash, RestoreTrash, TrashEntry, TrashParams } from '../../api/trash.ts'
import { conflict, Failure, invalidField, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type CallById, del, get, post, tagged } from '../pipeline/route.ts'
import { command } from '../records/requester.ts'
import { awaitRecord } from '../records/stored-record.ts'
import { findTrashed, listTrashed, type Trashed, toTrashEntry } from '../records/trash-record.ts'

const reclaimTimeoutMs = 30_000

type Restoring = CallById<unknown, RestoreTrash>

export const trashRoutes = tagged('Trash', [
  get('/trash', {
    role: 'read',
    summary: 'Lists deleted datastores and disks that can be restored, newest first',
    response: z.array(TrashEntry),
    handler: ({ context }) => listTrashed(context).map(toTrashEntry),
  }),
  post('/trash/{id}/restore', {
    summary: 'Restores a datastore with its id, settings, password and data, or a disk without a service',
    params: TrashParams,
    body: RestoreTrash,
    response: RestoredTrash,
    problems: ['conflict', 'name_taken'],
    replay: replayRestoreTrash,
    handler: restoreTrash,
  }),
  del('/trash/{id}', {
    summary: 'Removes an entry immediately, with its data and its final backup',
    params: TrashParams,
    problems: ['conflict'],
    handler: purgeTrash,
  }),
])

async function restoreTrash(call: Restoring): Promise<RestoredTrash> {
  const { context, params, body, eventId } = call
  const trashed = await findResumed(context, params.id)
  const { id, status } = trashed.record
  if (status === 'restarting') {
    throw conflict(`${nameOf(trashed)} is already being restored`, 'try again in a moment')
  }
  if (status !== 'trashed' && status !== 'failed') throw stillDeleting(trashed)
  if (trashed.kind === 'datastore') return restoreDatastore(call, trashed.record)
  if (body.name !== undefined) throw invalidField('name', 'a disk keeps its name')
  if (trashed.record.service_id.startsWith('dst-')) throw formerData(context, trashed.record)
  if (trashed.record.mount_path) assertNoDisk(context, trashed.record)
  const event = command(call, 'restore')
  const { applied } = await context.actors.send(id, event, { eventId })
  if (!applied) throw conflict(`${nameOf(trashed)} is being removed`)
  return { id, kind: 'disk', name: nameOf(trashed) }
}

/** The volume of a former version is of use only to its datastore. */
function formerData({ storage }: HttpContext, { service_id, service_name }: DiskRemovalRecord): Failure {
  const name = String(storage.actors.record(service_id)?.name ?? service_name)
  const message = `it is the data of ${name} before its upgrade`
  return conflict(message, `berth db upgrade ${name} --back returns to it`)
}

/** The volume of an image becomes the disk of its service, if that still exists. */
function assertNoDisk({ storage }: HttpContext, { id, service_id }: DiskRemovalRecord): void {
  const service = storage.services.get(service_id)
  if (!service) return
  const { name, instances, disk_mount_path } = service
  if (service.deleting) throw conflict(`${name} is being deleted`)
  if (disk_mount_path !== null) {
    const hint = `berth update ${name} --disk '' detaches it; then: berth trash restore ${id}`
    throw conflict(`${name} has a disk at ${disk_mount_path} already`, hint)
  }
  if (instances > 1) throw conflict(`a service with a disk has one instance`, `berth scale ${name} 1`)
}

async function restoreDatastore(call: Restoring, record: DatastoreRecord) {
  const { context, body, eventId } = call
  const { id } = record
  const name = body.name ?? record.name
  if (!context.storage.datastores.isFree(name)) throw nameTaken(id, name)
  const event = command(call, 'reclaim', { name })
  const { applied } = await context.actors.send(id, event, { eventId })
  if (!applied) throw conflict(`${record.name} is already being restored or removed`)
  const settled = (await awaitRecord<'datastore'>(
    context.storage,
    id,
    reclaimTimeoutMs,
    ({ trash, status }) => trash === null || status === 'trashed',
  ))!
  return restoredDatastore(settled, name)
}

/** Resumes a parked datastore, whose record has the status `failed`, before it is used. */
async function findResumed(context: HttpContext, id: string): Promise<Trashed> {
  const entry = findTrashed(context, id)
  if (entry.record.status === 'failed') await context.actors.spawn('datastore', id, {})
  return entry
}

/** Throws `name_taken` if another object got the name in the meantime. */
function restoredDatastore({ id, name, trash }: DatastoreRecord, wanted: string): RestoredTrash {
  if (trash?.trouble?.code === 'name_taken') throw nameTaken(id, wanted)
  if (trash?.trouble) throw new Failure('internal_error', trash.trouble.message)
  return { id, kind: 'datastore', name: trash === null ? name : wanted }
}

function nameTaken(id: string, name: string): Failure {
  const hint = `berth trash restore ${id} --name NEW restores it under another name`
  return new Failure('name_taken', `the name ${name} is taken`, hint)
}

/** The response to a repeated request, with the current name. */
function replayRestoreTrash({ storage }: HttpContext, id: string): RestoredTrash {
  if (id.startsWith('dsk-')) {
    const disk = storage.actors.record<'disk-removal'>(id)
    if (disk) return { id, kind: 'disk', name: disk.disk }
  }
  const datastore = storage.actors.record<'datastore'>(id)
  if (!datastore) throw notFound('the trash has no such entry')
  return restoredDatastore(datastore, datastore.name)
}

async function purgeTrash(call: CallById): Promise<undefined> {
  const { context, params } = call
  const resumed = await findResumed(context, params.id)
  const { kind, record } = resumed
  if (context.storage.actors.record(record.id) === null) throw stillDeleting(resumed)
  const event = kind === 'disk' ? command(call, 'purge') : command(call, 'delete', { keep: null })
  const { applied } = await context.actors.send(record.id, event)
  if (applied || kind === 'disk') return
  // A restore in progress rejects the purge. A removal in progress already does what the caller wants.
  const after = context.storage.actors.record(record.id)
  if (after?.status === 'restarting') throw conflict(`${record.name} is being restored`)
}

function nameOf(trashed: Trashed): string {
  return trashed.kind === 'disk' ? trashed.record.disk : trashed.record.name
}

function stillDeleting(trashed: Trashed): Failure {
  return conflict(`${nameOf(trashed)} is still being deleted`, 'try again in a moment')
}
