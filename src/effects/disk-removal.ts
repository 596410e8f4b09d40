// The effects of removing a disk: measuring its size for the trash, waiting, removing.
import type { machine } from '../../machines/disk-removal.ts'
import type { Effects } from '../../machines/slot.ts'
import { removeVolume } from '../docker/containers/volumes.ts'
import { diskName } from '../docker/engine/names.ts'
import { limitImageVolumes } from './disk/image-volumes.ts'
import { awaitExpiry, measureVolume } from './disk/trash.ts'
import type { EnginePorts } from './engine/ports.ts'
import type { SharedPorts } from './ports.ts'
import { retryUntilCleanedUp } from './waiting.ts'

export type DiskRemovalPorts = SharedPorts & EnginePorts

export function diskRemovalEffects(ports: DiskRemovalPorts): Effects<typeof machine> {
  return {
    async measureDisk({ id, disk }, signal) {
      const { isThere, sizeBytes } = await measureVolume(ports, id, disk, signal)
      if (isThere && ports.storage.actors.record<'disk-removal'>(id)?.mount_path)
        await limitImageVolumes(ports, { id, sizeBytes })
      return { isThere, sizeBytes }
    },
    awaitExpiry,
    async removeDisk({ id, disk }, signal) {
      if (isUsed(ports, disk)) ports.logger.warn({ disk }, 'a disk in the trash is used again: it stays')
      else await retryUntilCleanedUp(ports, id, signal, () => removeVolume(ports.engine, ports.owner, disk))
    },
  }
}

/** A former version of Berth moved the restored disk of a service to the trash at its next deploy. */
function isUsed({ storage, owner }: DiskRemovalPorts, disk: string): boolean {
  return storage.services.list().some((service) => diskName(owner, service) === disk)
}
