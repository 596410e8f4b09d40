// The disks of services, read from Docker, because a disk can outlive the record of its service.

import { z } from 'zod'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { DeleteDiskQuery, Disk, DiskParams } from '../../api/disk.ts'
import { conflict, Failure, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, del, get, tagged } from '../pipeline/route.ts'
import { command, requesterOf } from '../records/requester.ts'
import { trashExpiry } from '../records/trash-record.ts'

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
])

/** Disks outside of the trash. Throws `docker_unavailable`. */
async function listDisks({ context }: Call): Promise<Disk[]> {
  const { observe, storage } = context
  const disks = await observe.disks()
  return disks
    .filter(({ name, serviceId }) => removalOf(storage, { name, serviceId }) === null)
    .map(({ name, serviceId, serviceName }) => ({
      name,
      service_id: serviceId,
      service_name: serviceName,
      kept: !isDiskOf(context, name, storage.services.get(serviceId)),
    }))
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
  const removalId = removalOf(storage, disk)
  if (removalId !== null) {
    if (query.purge) await actors.send(removalId, command(call, 'purge'))
    return
  }
  const id = storage.ids.newId('dsk')
  const expiresAt = trashExpiry(context, query.purge)
  const input = { id, disk: disk.name, serviceId, serviceName, expiresAt, at: new Date().toISOString() }
  const also = () => {
    if (removalOf(storage, disk) !== null) throw conflict('it is already being deleted')
  }
  await actors.spawn('disk-removal', id, input, { also, by: requesterOf(call) })
}

/** A service that got another disk from the trash keeps the former one without using it. */
function isDiskOf({ diskOf }: HttpContext, name: string, service: ServiceRow | null): boolean {
  return service !== null && diskOf(service) === name
}

/** The id of the disk's removal, which is in the trash or in progress. */
function removalOf(
  { actors }: Storage,
  { name, serviceId }: { name: string; serviceId: string },
): string | null {
  const removals = [...actors.active('disk-removal', serviceId)]
  return removals.find(({ id }) => actors.record<'disk-removal'>(id)?.disk === name)?.id ?? null
}
