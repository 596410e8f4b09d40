// What a restored server does not find on its machine: images, and volumes that had to be created again.

import { listVolumes } from '../../docker/containers/volumes.ts'
import { datastoreName, diskName } from '../../docker/engine/names.ts'
import { inspectImage } from '../../docker/images/images.ts'
import type { SharedPorts } from '../ports.ts'
import type { EnginePorts } from './ports.ts'

type Ports = Pick<EnginePorts, 'engine' | 'owner'> & Pick<SharedPorts, 'storage'>

export interface Missing {
  name: string
  what: 'image' | 'disk' | 'data'
  hint: string
}

/** Throws `docker_unavailable`. */
export async function listMissing(ports: Ports, restoredAt: string): Promise<Missing[]> {
  const { storage, engine, owner } = ports
  const volumes = await listVolumes(engine, owner)
  const isOld = ({ createdAt }: { createdAt: string | null }) =>
    createdAt === null || Date.parse(createdAt) < Date.parse(restoredAt)
  const kept = new Set(volumes.filter(isOld).map(({ name }) => name))
  const isRestored = (id: string) => {
    const restore = storage.actors.latest('restore', id)
    return restore?.status === 'done' && restore.created_at > restoredAt
  }
  const missing: Missing[] = []
  for (const service of storage.services.list()) {
    const { name, live_deploy_id: deployId, disk_mount_path: path } = service
    const image = deployId === null ? null : storage.actors.record(deployId)?.image
    if (typeof image === 'string' && (await inspectImage(engine, image)) === null) {
      missing.push({ name, what: 'image', hint: `berth deploy ${name}` })
    }
    if (path !== null && !kept.has(diskName(owner, service)) && !isRestored(service.id)) {
      const hint = `berth disks restore ${name} --from BACKUP; berth disks backups ${name} lists them`
      missing.push({ name, what: 'disk', hint })
    }
  }
  for (const { id, name } of storage.datastores.listAll()) {
    if (storage.datastores.isTrashed(id)) continue
    if (kept.has(datastoreName(owner, storage.datastores.volume(id) ?? name)) || isRestored(id)) continue
    missing.push({
      name,
      what: 'data',
      hint: `berth db restore ${name} --from BACKUP; berth db backups ${name} lists them`,
    })
  }
  return missing
}
