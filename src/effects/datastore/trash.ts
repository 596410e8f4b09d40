// The effects of a datastore's trash: its final backup, its name and its volume.
import type { DatastoreSlot } from '../../../machines/datastore/datastore-context.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { byServer } from '../by.ts'
import { measureVolume } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp, waitForCommit } from '../waiting.ts'
import { findDatastore } from './access.ts'
import type { DatastorePorts } from './ports.ts'
import { stopSeconds } from './start.ts'

/** A failed backup does not stop the deletion: the volume is kept in any case. */
export function saveDatastore(ports: DatastorePorts) {
  return async (
    { id, kind, version, backupId }: DatastoreSlot & { backupId: string },
    signal: AbortSignal,
  ) => {
    const { name } = findDatastore(ports, id).record
    const { actors, changes } = ports.storage
    const input = { id: backupId, datastoreId: id, datastoreName: name, kind, version, at: isoNow() }
    await ports.actors.spawn(
      'backup',
      backupId,
      { ...input, trigger: 'final' },
      { by: byServer('the deletion of its datastore') },
    )
    const status = await waitForCommit(changes, id, signal, () => {
      const found = actors.record(backupId)?.status
      return found === 'running' ? null : String(found)
    })
    if (status !== 'good') {
      const error = actors.record(backupId)?.error
      ports.logger.warn({ datastore: name, backup: backupId, status, error }, 'the final backup failed')
    }
    return { at: isoNow(), isGood: status === 'good' }
  }
}

export function trashDatastore(ports: DatastorePorts) {
  return async ({ id }: { id: string }, signal: AbortSignal) => {
    const { datastores, addresses } = ports.storage
    const name = String(ports.storage.actors.record(id)!.name)
    const container = datastoreName(ports.owner, name)
    await retryUntilCleanedUp(ports, id, signal, async () => {
      // If this effect ends late and runs again, another datastore may have the name.
      if (isRestored(ports, id) || ![id, null].includes(datastores.idOf(name))) return
      if ((await ports.instances.inspect(container))?.state === 'running') {
        await ports.instances.stop(container, stopSeconds)
      }
      await ports.instances.remove(container)
    })
    const volume = datastoreName(ports.owner, datastores.volume(id) ?? name)
    const { isThere, sizeBytes } = await measureVolume(ports, id, volume, signal)
    if (!isThere) ports.logger.warn({ datastore: name, volume }, 'the volume is missing')
    if (!isRestored(ports, id)) {
      await addresses.release(id)
      await datastores.trash(id)
    }
    return { at: isoNow(), hasVolume: isThere, sizeBytes }
  }
}

function isRestored({ storage }: DatastorePorts, id: string): boolean {
  const status = storage.actors.record(id)?.status
  return status !== 'deleting' && status !== 'trashed'
}

export function reclaimDatastore(ports: DatastorePorts) {
  return async ({ id, name }: { id: string; name: string }) => {
    await ports.storage.datastores.restoreFromTrash(id, name)
    return { at: isoNow() }
  }
}
