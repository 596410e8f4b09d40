// Removing a datastore: its container and the volume that was made for it, and only these; its name last.

import { removeVolume } from '../../docker/containers/volumes.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { type Host, isoNow } from '../host.ts'
import { retryUntilCleanedUp } from '../waiting.ts'

export function removeDatastore(host: Host) {
  return async ({ id, backupId }: { id: string; backupId: string | null }, signal: AbortSignal) => {
    const { actors, addresses, datastores } = host.storage
    const volume = datastores.volume(id)
    // Removed already or in the trash, where an effect that ends late can put it at any time: it has no
    // container, and another datastore may have its name.
    const hasContainer = () => volume !== null && datastores.has(id) && !datastores.isTrashed(id)
    const nameOf = (text: string) => datastoreName(host.owner, text)
    await retryUntilCleanedUp(host, id, signal, async () => {
      if (hasContainer()) await host.instances.remove(nameOf(String(actors.record(id)!.name)))
      if (volume !== null) await removeVolume(host.engine, host.owner, nameOf(volume), id)
    })
    if (backupId !== null) await removeFinalBackup(host, backupId)
    await addresses.release(id)
    await datastores.remove(id)
    return { at: isoNow() }
  }
}

/** A backup from which a restore runs is kept. */
async function removeFinalBackup(host: Host, backupId: string): Promise<void> {
  const { actors } = host.storage
  const restores = [...actors.active('restore')].map(({ id }) => actors.record(id))
  const isInUse = restores.some((restore) => restore?.backup_id === backupId)
  if (isInUse || !actors.record(backupId)) return
  await host.actors.send(backupId, { type: 'delete', at: isoNow(), by: 'the trash' })
}
