// The effects of removing a disk: measuring its size for the trash, waiting, removing.
import type { machine } from '../../machines/disk-removal.ts'
import type { Effects } from '../../machines/slot.ts'
import { removeVolume } from '../docker/containers/volumes.ts'
import { awaitExpiry, measureVolume } from './disk/trash.ts'
import { type Host, isoNow } from './host.ts'
import { retryUntilCleanedUp } from './waiting.ts'

export function diskRemovalEffects(host: Host): Effects<typeof machine> {
  return {
    async measureDisk({ id, disk }, signal) {
      const { isThere, sizeBytes } = await measureVolume(host, id, disk, signal)
      return { at: isoNow(), isThere, sizeBytes }
    },
    awaitExpiry,
    async removeDisk({ id, disk }, signal) {
      await retryUntilCleanedUp(host, id, signal, () => removeVolume(host.engine, host.owner, disk))
      return { at: isoNow() }
    },
  }
}
