// Removing a datastore: its container and the volume that was made for it, and only these; its name last.

import { datastoreName } from '../../docker/names.ts'
import { removeVolume } from '../../docker/volumes.ts'
import { type Host, isoNow } from '../host.ts'
import { untilDone } from '../waiting.ts'

export function removeDatastore(host: Host) {
  return async ({ id }: { id: string }, signal: AbortSignal) => {
    const name = datastoreName(host.owner, String(host.storage.actors.record(id)!.name))
    await untilDone(host, id, signal, async () => {
      await host.instances.remove(name)
      await removeVolume(host.engine, host.owner, name, id)
    })
    await host.storage.addresses.release(id)
    await host.storage.datastores.remove(id)
    return { at: isoNow() }
  }
}
