// The disks of services, read from Docker: a disk can outlive the record of its service.
import { z } from 'zod'
import type { DiskChownInput, DiskChownRecord } from '../../../machines/disk-chown.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { HistoryEntry } from '../../api/actor.ts'
import { ChownDisk, DeleteDiskQuery, Disk, DiskChown, DiskParams } from '../../api/disk.ts'
import { conflict, Failure, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, del, get, post, tagged } from '../pipeline/route.ts'
import { type FoundDisk, findDisk } from '../records/disk-record.ts'
import { command, requesterOf } from '../records/requester.ts'
import { finder } from '../records/stored-record.ts'
import { trashExpiry } from '../records/trash-record.ts'
import { adviseOnChown, failureOf } from '../why/advice.ts'

export const diskRoutes = tagged('Disks', [
  get('/disks', {
    role: 'read',
    summary: 'Lists the disks of services, including those of deleted services',
    response: z.array(Disk),
    problems: ['docker_unavailable', 'docker_error'],
    handler: listDisks,
  }),
  del('/disks/{name}', {
    summary: 'Moves the disk of a deleted service to the trash',
    params: DiskParams,
    query: DeleteDiskQuery,
    problems: ['conflict', 'in_use', 'docker_unavailable', 'docker_error'],
    handler: deleteDisk,
  }),
  post('/disks/{name}/chown', {
    summary: 'Gives all files of a disk to another user',
    description:
      'Gives all files of a disk to another user, also while instances run. Links are changed themselves, ' +
      'not what they lead to.',
    params: DiskParams,
    body: ChownDisk,
    response: DiskChown,
    status: 202,
    replay: readChown,
    problems: ['conflict', 'docker_unavailable', 'docker_error'],
    handler: chownDisk,
  }),
  get('/disks/{name}/chown', {
    role: 'read',
    summary: 'Returns the newest change of the owner of a disk; it is kept for 30 days',
    params: DiskParams,
    response: DiskChown,
    handler: ({ context, params }) => findChown(context, params.name),
  }),
  get('/disks/{name}/chown/history', {
    role: 'read',
    summary: 'Lists the transitions of the newest change of the owner of a disk',
    params: DiskParams,
    response: z.array(HistoryEntry),
    handler: ({ context, params }) => context.storage.actors.history(findChown(context, params.name).id),
  }),
])

/** Disks outside of the trash. Throws `docker_unavailable`. */
async function listDisks({ context }: Call): Promise<Disk[]> {
  const { observe, storage } = context
  const disks = await observe.disks()
  const [leaving, restored] = [leavingDisks(storage), disksOfRestores(storage)]
  return disks
    .map((disk) => ({ ...disk, kept: !isDiskOf(context, disk.name, storage.services.get(disk.serviceId)) }))
    .filter(({ name, kept }) => !leaving.has(name) && !(kept && restored.has(name)))
    .map(({ name, serviceId: service_id, serviceName: service_name, kept }) => ({
      name,
      service_id,
      service_name,
      kept,
    }))
}

/** Exists, and is not in the trash. Throws `not_found`, `docker_unavailable`. */
export async function findPresentDisk(context: HttpContext, nameOrService: string): Promise<FoundDisk> {
  const { name } = await findDisk(context, nameOrService)
  const disk = (await context.observe.disks()).find((one) => one.name === name)
  if (disk && !leavingDisks(context.storage).has(name)) return disk
  throw notFound('there is no such disk', 'berth disks lists them')
}

/** Throws `not_found`, `in_use`, `docker_unavailable`. */
export async function findKeptDisk(context: HttpContext, name: string): Promise<FoundDisk> {
  const disk = await findPresentDisk(context, name)
  assertKept(context, disk)
  return disk
}

/** Must run in the transaction that gives it to a service, or deletes it. Throws `in_use`, `conflict`. */
export function assertKept(context: HttpContext, disk: FoundDisk): void {
  const { storage, diskOf } = context
  const user = storage.services.list().find((row) => diskOf(row) === disk.name)
  if (user) throw new Failure('in_use', `it is the disk of the service ${user.name}`)
  if (disksOfRestores(storage).has(disk.name)) throw new Failure('in_use', 'a restore works on it')
  if (leavingDisks(storage).has(disk.name)) throw conflict('it is already being deleted')
}

async function deleteDisk(call: Call<DiskParams, DeleteDiskQuery>): Promise<undefined> {
  const { context, params, query } = call
  const { actors, observe, storage } = context
  const disk = (await observe.disks()).find(({ name }) => name === params.name)
  if (!disk) throw notFound('there is no such disk')
  const { serviceId, serviceName } = disk
  const service = storage.services.get(serviceId)
  if (service && isDiskOf(context, disk.name, service)) {
    const hint = `berth delete ${service.name} --delete-disk deletes both`
    throw new Failure('in_use', `it is the disk of the service ${service.name}`, hint)
  }
  const removalId = removalOf(storage, disk.name)
  if (removalId !== null) {
    if (query.purge) await actors.send(removalId, command(call, 'purge'))
    return
  }
  const id = storage.ids.newId('dsk')
  const expiresAt = trashExpiry(context, query.purge)
  const input = { id, disk: disk.name, serviceId, serviceName, expiresAt, at: new Date().toISOString() }
  const also = () => assertKept(context, disk)
  await actors.spawn('disk-removal', id, input, { also, by: requesterOf(call) })
}

/** A service that got another disk from the trash keeps the former one without using it. */
function isDiskOf({ diskOf }: HttpContext, name: string, service: ServiceRow | null): boolean {
  return service !== null && diskOf(service) === name
}

/** Those that restores fill, and may remove again, and those that they replace. */
function disksOfRestores({ actors }: Storage): Set<string | null | undefined> {
  const restores = [...actors.active('restore')].map(({ id }) => actors.record<'restore'>(id))
  return new Set(restores.flatMap((record) => [record?.new_disk, record?.disk]))
}

/** Those in the trash, or on their way there. */
function leavingDisks({ actors }: Storage): Set<string | null | undefined> {
  const removals = [...actors.active('disk-removal')].map(({ id }) => actors.record<'disk-removal'>(id)?.disk)
  const ends = [...actors.active('service-removal')].map(({ id }) => actors.record<'service-removal'>(id))
  return new Set([...removals, ...ends.map((record) => record?.trash?.disk)])
}

/**
 * The id of the disk's removal, which is in the trash or in progress. Its service is the last one that had
 * the disk, and Docker names the first one.
 */
function removalOf({ actors }: Storage, name: string): string | null {
  const removals = [...actors.active('disk-removal')]
  return removals.find(({ id }) => actors.record<'disk-removal'>(id)?.disk === name)?.id ?? null
}

const findChownRecord = finder<'disk-chown'>('own', 'change of an owner')

async function chownDisk(call: Call<DiskParams, unknown, ChownDisk>): Promise<DiskChown> {
  const { context, params, body, eventId } = call
  const { actors, observe, storage } = context
  const disk = (await observe.disks()).find(({ name }) => name === params.name)
  if (!disk) throw notFound('there is no such disk', 'berth disks lists them')
  const service = storage.services.get(disk.serviceId)
  if (!service || context.diskOf(service) !== disk.name)
    throw conflict('no service uses this disk: its owner stays as it is')
  const owner = body.owner ?? null
  const hasNames = owner === null || !/^\d+(:\d+)?$/.test(owner)
  if (hasNames && !service.live_deploy_id) {
    const message = `${service.name} has no live deploy, whose image has the names of users`
    const { disk_mount_path: path } = service
    throw conflict(message, `berth disks chown ${service.name} ${path ?? disk.name} UID:GID`)
  }
  const id = storage.ids.newId('own')
  const at = new Date().toISOString()
  const input: DiskChownInput = { id, disk: disk.name, serviceId: service.id, owner, at }
  const also = () => {
    const running = [...storage.actors.active('disk-chown', service.id)]
    if (running.length > 0) throw conflict('its owner is being changed already')
  }
  const { record } = await actors.spawn('disk-chown', id, input, { eventId, also, by: requesterOf(call) })
  return toChown(storage, record)
}

function findChown({ storage, diskOf }: HttpContext, disk: string): DiskChown {
  const service = storage.services.list().find((row) => diskOf(row) === disk)
  const record = service ? storage.actors.latest('disk-chown', service.id) : null
  if (record?.disk === disk) return toChown(storage, record)
  throw notFound('the owner of this disk was not changed')
}

function readChown({ storage }: HttpContext, id: string): DiskChown {
  return toChown(storage, findChownRecord(storage, id))
}

function toChown({ services }: Storage, record: DiskChownRecord & CommonRecordFields): DiskChown {
  const service = services.get(record.service_id)
  return { ...record, ...failureOf(record, service && adviseOnChown(record, service.name)) }
}
