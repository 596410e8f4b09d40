// A disk by the name of its volume, or by its service: a restore gives the disk of a service another volume.
import type { ServiceRow } from '../../../storage/services.ts'
import { notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'

export interface FoundDisk {
  name: string
  serviceId: string
  serviceName: string
}

/** Also one of a deleted service, for which Docker is asked. Throws `not_found`, `docker_unavailable`. */
export async function findDisk(context: HttpContext, nameOrService: string): Promise<FoundDisk> {
  const service = findDiskService(context, nameOrService)
  if (service) return { name: context.diskOf(service), serviceId: service.id, serviceName: service.name }
  const kept = (await context.observe.disks()).find(({ name }) => name === nameOrService)
  if (kept) return kept
  throw notFound(`there is no disk '${nameOrService}'`, 'berth disks lists them')
}

/** The service whose disk it is; undefined for a disk that no service uses. */
export function findDiskService(
  { storage, diskOf }: HttpContext,
  nameOrService: string,
): ServiceRow | undefined {
  const named = storage.services.get(nameOrService)
  if (named?.disk_mount_path) return named
  return storage.services.list().find((row) => row.disk_mount_path && diskOf(row) === nameOrService)
}

/** Throws `not_found`, also for a disk that no service uses. */
export function requireDiskService(context: HttpContext, nameOrService: string): ServiceRow {
  const service = findDiskService(context, nameOrService)
  if (service) return service
  throw notFound(`no service uses a disk '${nameOrService}'`, 'berth disks lists them')
}
