// The end of a datastore: its final backup, its trash, and the removal of its name and its volume.
import type { DatastoreSlot } from '../../../machines/datastore/datastore-context.ts'
import { removeVolume } from '../../docker/containers/volumes.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { byServer } from '../by.ts'
import { measureVolume } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp, waitForCommit } from '../waiting.ts'
import type { DatastorePorts } from './kind.ts'
import { spawnBackup } from './schedule.ts'
import { stopSeconds } from './start.ts'

/** A failed backup does not stop the deletion: the volume is kept in any case. */
export async function saveDatastore(
  ports: DatastorePorts,
  slot: DatastoreSlot & { backupId: string },
  signal: AbortSignal,
) {
  const { id, backupId } = slot
  const { actors, changes } = ports.storage
  await spawnBackup(ports, slot, 'final', byServer('the deletion of its datastore'))
  const status = await waitForCommit(changes, id, signal, () => {
    const found = actors.record(backupId)?.status
    return found === 'running' ? null : String(found)
  })
  if (status !== 'good') {
    const { name } = actors.record(id)!
    const error = actors.record(backupId)?.error
    ports.logger.warn({ datastore: name, backup: backupId, status, error }, 'the final backup failed')
  }
  return { isGood: status === 'good' }
}

export async function trashDatastore(ports: DatastorePorts, { id }: { id: string }, signal: AbortSignal) {
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
  return { hasVolume: isThere, sizeBytes }
}

function isRestored({ storage }: DatastorePorts, id: string): boolean {
  const status = storage.actors.record(id)?.status
  return status !== 'deleting' && status !== 'trashed'
}

export async function reclaimDatastore(ports: DatastorePorts, { id, name }: { id: string; name: string }) {
  await ports.storage.datastores.restoreFromTrash(id, name)
}

/** Removes its container and the volume created for it, nothing else, and its name last. */
export async function removeDatastore(
  ports: DatastorePorts,
  { id, backupId }: { id: string; backupId: string | null },
  signal: AbortSignal,
) {
  const { actors, addresses, datastores } = ports.storage
  const volume = datastores.volume(id)
  // Already removed, or in the trash, where a late effect can put it at any time: it has no container, and
  // its name may belong to another datastore.
  const hasContainer = () => volume !== null && datastores.has(id) && !datastores.isTrashed(id)
  const nameOf = (text: string) => datastoreName(ports.owner, text)
  await retryUntilCleanedUp(ports, id, signal, async () => {
    if (hasContainer()) await ports.instances.remove(nameOf(String(actors.record(id)!.name)))
    if (volume !== null) await removeVolume(ports.engine, ports.owner, nameOf(volume), id)
  })
  // The data of a former version.
  for (const removal of actors.active('disk-removal', id))
    await ports.actors.send(removal.id, { type: 'purge', at: isoNow(), by: 'the removal of its datastore' })
  if (backupId !== null) await removeFinalBackup(ports, backupId)
  await addresses.release(id)
  await datastores.remove(id)
}

/** A backup from which a restore runs is kept. */
async function removeFinalBackup(ports: DatastorePorts, backupId: string): Promise<void> {
  const { actors } = ports.storage
  const restores = [...actors.active('restore')].map(({ id }) => actors.record(id))
  const isInUse = restores.some((restore) => restore?.backup_id === backupId)
  if (isInUse || !actors.record(backupId)) return
  await ports.actors.send(backupId, { type: 'delete', at: isoNow(), by: 'the trash' })
}
