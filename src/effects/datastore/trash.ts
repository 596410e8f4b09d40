// A datastore on its way into the trash and out of it: its final backup, its name, its volume.
import type { DatastoreSlot } from '../../../machines/datastore/datastore-context.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { byServer } from '../by.ts'
import { measureVolume } from '../disk/trash.ts'
import { type Host, isoNow } from '../host.ts'
import { retryUntilCleanedUp, untilCommitted } from '../waiting.ts'
import { findDatastore } from './access.ts'
import { stopSeconds } from './start.ts'

/** A failed backup does not stop the deletion: the volume is kept in any case. */
export function saveDatastore(host: Host) {
  return async (
    { id, kind, version, backupId }: DatastoreSlot & { backupId: string },
    signal: AbortSignal,
  ) => {
    const { name } = findDatastore(host, id).record
    const { actors, changes } = host.storage
    const input = { id: backupId, datastoreId: id, datastoreName: name, kind, version, at: isoNow() }
    await host.actors.spawn(
      'backup',
      backupId,
      { ...input, trigger: 'final' },
      { by: byServer('the deletion of its datastore') },
    )
    const status = await untilCommitted(changes, id, signal, () => {
      const found = actors.record(backupId)?.status
      return found === 'running' ? null : String(found)
    })
    if (status !== 'good') {
      const error = actors.record(backupId)?.error
      host.logger.warn({ datastore: name, backup: backupId, status, error }, 'the final backup failed')
    }
    return { at: isoNow(), isGood: status === 'good' }
  }
}

export function trashDatastore(host: Host) {
  return async ({ id }: { id: string }, signal: AbortSignal) => {
    const { datastores, addresses } = host.storage
    const name = String(host.storage.actors.record(id)!.name)
    const container = datastoreName(host.owner, name)
    await retryUntilCleanedUp(host, id, signal, async () => {
      // When this runs again after a late end, another datastore may have that name.
      if (isRestored(host, id) || ![id, null].includes(datastores.idOf(name))) return
      if ((await host.instances.inspect(container))?.state === 'running') {
        await host.instances.stop(container, stopSeconds)
      }
      await host.instances.remove(container)
    })
    const volume = datastoreName(host.owner, datastores.volume(id) ?? name)
    const { isThere, sizeBytes } = await measureVolume(host, id, volume, signal)
    if (!isThere) host.logger.warn({ datastore: name, volume }, 'the volume is missing')
    if (!isRestored(host, id)) {
      await addresses.release(id)
      await datastores.trash(id)
    }
    return { at: isoNow(), hasVolume: isThere, sizeBytes }
  }
}

function isRestored({ storage }: Host, id: string): boolean {
  const status = storage.actors.record(id)?.status
  return status !== 'deleting' && status !== 'trashed'
}

export function reclaimDatastore(host: Host) {
  return async ({ id, name }: { id: string; name: string }) => {
    await host.storage.datastores.reclaim(id, name)
    return { at: isoNow() }
  }
}
