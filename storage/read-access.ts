// Opens a data directory only to look at it. Works with and without a running daemon, takes no lock, and
// changes nothing.
import { chmodSync, chownSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Activity } from './activity.ts'
import { Actors } from './actors/actors.ts'
import { Datastores } from './datastores.ts'
import { openEvents } from './events.ts'
import { openSealer } from './secrets.ts'
import { Services } from './services.ts'
import { StorageError } from './store/errors.ts'
import { requireCurrentSchema } from './store/migrations.ts'
import { Names } from './store/names.ts'
import { openRedundantValue } from './store/redundant-value.ts'
import { openStore } from './store/store.ts'

/**
 * Throws `not_found` for a folder that is not a data directory, `store_other_version` for another schema, and
 * the codes for a store or a key that cannot be used.
 */
export function openReadAccess(directory: string) {
  const path = join(directory, 'store', 'data.mdb')
  if (!existsSync(path)) {
    throw new StorageError('not_found', `${directory} is not the data directory of a Berth server`)
  }
  const readers = join(directory, 'store', 'lock.mdb')
  const isNew = !existsSync(readers)
  const store = openStore(directory, { isReadOnly: true, onPanic: () => undefined })
  try {
    // lmdb makes this file; it must stay usable for the user of the daemon.
    if (isNew && existsSync(readers)) {
      const { uid, gid } = statSync(path)
      chmodSync(readers, 0o600)
      chownSync(readers, uid, gid)
    }
    requireCurrentSchema(store)
    const sealer = openSealer(directory, { create: false })
    sealer.check(openRedundantValue<string>(store, 'key_check', 'check').get())
    const names = new Names(store)
    const events = openEvents(store)
    const services = new Services(store, events, names)
    const datastores = new Datastores(store, sealer, names)
    const activity = new Activity(store, (id) => datastores.nameOf(id))
    const actors = new Actors(store, services, events, { boot: 0, activity })
    return { actors, datastores, usedBytes: store.usedBytes, close: store.close }
  } catch (error) {
    void store.close()
    throw error
  }
}
