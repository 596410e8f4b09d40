// Opens the places where backups are kept, by name, and tries whether they work.
import { randomBytes } from 'node:crypto'
import type { BackupPlace } from '../../../storage/backup-places.ts'
import type { Storage } from '../../../storage/index.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import { Failure, messageOf, notFound } from '../../errors.ts'
import { openBucket } from '../../object-storage/bucket.ts'
import { type FolderOptions, openFolder } from '../../object-storage/folder.ts'
import type { ObjectStore } from '../../object-storage/object-store.ts'
import { duration } from '../../quantities.ts'

export interface BackupPlacePorts {
  storage: Pick<Storage, 'backupPlaces'>
  folder: FolderOptions
}

const stepMs = 20_000
const steps = ['write', 'read', 'list', 'remove'] as const

export interface PlaceTest {
  name: string
  is_ok: boolean
  steps: { step: (typeof steps)[number]; error: string | null; hint: string | null }[]
}

export function openBackupPlaces({ storage, folder }: BackupPlacePorts) {
  /** Throws `not_found` for a place that was removed. */
  function open(name: string): ObjectStore {
    if (name === folderPlace) return openFolder(folder)
    const place = storage.backupPlaces.get(name)
    if (place) return openBucket(bucketOf(place))
    throw notFound(`there is no backup place ${name}`, 'berth backup-places lists them')
  }

  /** False for a place that was removed, although backups were in it. */
  function has(name: string): boolean {
    return name === folderPlace || storage.backupPlaces.get(name) !== null
  }

  return {
    open,
    has,
    /** The path, or the address in its bucket; the name alone if the place was removed. */
    locationOf: (place: string, name: string) => (has(place) ? open(place).locationOf(name) : name),
    /** Writes a small object, reads it back, lists it and removes it, until one of them fails. */
    async test(name: string): Promise<PlaceTest> {
      const store = open(name)
      const done: PlaceTest['steps'] = []
      for (const step of steps) {
        const failure = await trial(store, step)
        const { error, hint } = failure ?? { error: null, hint: null }
        done.push({ step, error, hint })
        if (failure) break
      }
      return { name, is_ok: done.every(({ error }) => error === null), steps: done }
    },
  }

  async function trial(store: ObjectStore, step: (typeof steps)[number]) {
    try {
      await withTimeout(stepMs, undefined, (signal) => trials[step](store, signal), late)
      return null
    } catch (error) {
      return { error: messageOf(error), hint: (error instanceof Failure && error.hint) || null }
    }
  }
}

export type BackupPlaces = ReturnType<typeof openBackupPlaces>

const late = new Failure(
  'backup_place_failed',
  `it did not answer within ${duration(stepMs)}`,
  'check the endpoint, and firewalls on the way',
)

const trialName = 'berth-test'
const trialContent = randomBytes(64)

const trials: Record<(typeof steps)[number], (store: ObjectStore, signal: AbortSignal) => Promise<void>> = {
  async write(store, signal) {
    async function* content() {
      yield trialContent
    }
    await store.put(trialName, content(), signal)
  },
  async read(store, signal) {
    const pieces: Uint8Array[] = []
    for await (const piece of (await store.get(trialName, signal)).content) pieces.push(piece)
    if (!Buffer.concat(pieces).equals(trialContent))
      throw new Failure('backup_place_failed', 'what was read is not what was written', 'check the endpoint')
  },
  async list(store, signal) {
    for await (const { name } of store.list(trialName, signal)) if (name === trialName) return
    throw new Failure('backup_place_failed', 'the list does not have what was written')
  },
  remove: (store, signal) => store.remove(trialName, signal),
}

function bucketOf(place: BackupPlace) {
  const { endpoint, bucket, prefix, region, path_style: pathStyle } = place
  const { access_key_id: keyId, secret_access_key: secret } = place
  return { endpoint, bucket, prefix, region, pathStyle, keyId, secret }
}
