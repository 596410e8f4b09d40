// Removes a datastore: its container and the volume created for it, nothing else, and its name last.
import { removeVolume } from '../../docker/containers/volumes.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import type { DatastorePorts } from './ports.ts'

export function removeDatastore(ports: DatastorePorts) {
  return async ({ id, backupId }: { id: string; backupId: string | null }, signal: AbortSignal) => {
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
    return { at: isoNow() }
  }
}

/** A backup from which a restore runs is kept. */
async function removeFinalBackup(ports: DatastorePorts, backupId: string): Promise<void> {
  const { actors } = ports.storage
  const restores = [...actors.active('restore')].map(({ id }) => actors.record(id))
  const isInUse = restores.some((restore) => restore?.backup_id === backupId)
  if (isInUse || !actors.record(backupId)) return
  await ports.actors.send(backupId, { type: 'delete', at: isoNow(), by: 'the trash' })
}
