// The disks of this server, as Docker has them: the only way to find those that outlived their services.
import type { Call } from '../route.ts'
import type { Disk } from '../schemas/disk.ts'

/** Throws `docker_unavailable`. */
export async function listDisks({ context: { observe, storage } }: Call): Promise<Disk[]> {
  const disks = await observe.disks()
  return disks.map(({ name, serviceId, serviceName }) => ({
    name,
    service_id: serviceId,
    service_name: serviceName,
    kept: storage.services.get(serviceId) === null,
  }))
}
