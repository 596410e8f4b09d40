// Disks, read from Docker, because a disk can outlive the record of its service.

import type { DeleteDiskQuery, Disk, DiskParams } from '../../../api/disk.ts'
import { Failure } from '../../../errors.ts'
import type { HttpStorage } from '../../pipeline/context.ts'
import type { Call } from '../../pipeline/route.ts'
import { command, requesterOf } from '../../records/requester.ts'
import { trashExpiry } from '../../records/trash-record.ts'

/** Disks outside of the trash. Throws `docker_unavailable`. */
export async function listDisks({ context: { observe, storage } }: Call): Promise<Disk[]> {
  const disks = await observe.disks()
  return disks
    .filter(({ serviceId }) => removalOf(storage, serviceId) === null)
    .map(({ name, serviceId, serviceName }) => ({
      name,
      service_id: serviceId,
      service_name: serviceName,
      kept: storage.services.get(serviceId) === null,
    }))
}

/** Throws `not_found`, `in_use`, `docker_unavailable`. */
export async function deleteDisk(call: Call<DiskParams, DeleteDiskQuery>): Promise<undefined> {
  const { context, params, query } = call
  const { actors, observe, storage } = context
  const disk = (await observe.disks()).find(({ name }) => name === params.name)
  if (!disk) throw new Failure('not_found', 'there is no such disk')
  const { serviceId, serviceName } = disk
  const service = storage.services.get(serviceId)
  if (service) {
    const hint = `berth delete ${service.name} --delete-disk deletes both`
    throw new Failure('in_use', `it is the disk of the service ${service.name}`, hint)
  }
  const removalId = removalOf(storage, serviceId)
  if (removalId !== null) {
    if (query.purge) await actors.send(removalId, command(call, 'purge'))
    return
  }
  const id = storage.ids.newId('dsk')
  const expiresAt = trashExpiry(context, query.purge)
  const input = { id, disk: disk.name, serviceId, serviceName, expiresAt, at: new Date().toISOString() }
  const also = () => {
    if (removalOf(storage, serviceId) !== null) throw new Failure('conflict', 'it is already being deleted')
  }
  await actors.spawn('disk-removal', id, input, { also, by: requesterOf(call) })
}

/** The id of the disk's removal, which is in the trash or in progress. */
function removalOf({ actors }: HttpStorage, serviceId: string): string | null {
  const [removal] = actors.active('disk-removal', serviceId)
  return removal?.id ?? null
}
