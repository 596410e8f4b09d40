// The places where backups are kept: buckets with their keys, sealed. The folder of the server is one too,
// which is not stored. Keys must not reach a log, an event or an actor.
import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import type { Commit, Store } from './store/store.ts'

export interface BackupPlace {
  name: string
  endpoint: string
  bucket: string
  /** Begins every key; empty, or with a slash at its end. */
  prefix: string
  region: string
  path_style: boolean
  access_key_id: string
  secret_access_key: string
  is_default: boolean
  created_at: string
  updated_at: string
}

export function openBackupPlaces(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<BackupPlace>(store, sealer, 'backup_places', 'backup-place')

  function announce(commit: Commit, id: string, status: string | null): void {
    commit.announce({ kind: 'backup-place', id, service_id: null, status, revision: null })
  }

  function save(commit: Commit, place: BackupPlace): void {
    sealed.put(place.name, place)
    announce(commit, place.name, null)
  }

  return {
    get: sealed.get,
    list: sealed.list,
    /** Where backups go that choose no place; null for the folder. */
    defaultName: (): string | null => sealed.list().find((place) => place.is_default)?.name ?? null,
    /** `created_at` and `is_default` stay those of the first time. */
    put: (place: Omit<BackupPlace, 'is_default' | 'created_at' | 'updated_at'>, at: string) =>
      store.commit((commit): BackupPlace => {
        // Not by `get`: a damaged row is replaced.
        const previous = sealed.list().find(({ name }) => name === place.name)
        const { created_at = at, is_default = false } = previous ?? {}
        const saved = { ...place, is_default, created_at, updated_at: at }
        save(commit, saved)
        return saved
      }),
    /** Null for the folder. */
    makeDefault: (name: string | null) =>
      store.commit((commit) => {
        for (const place of sealed.list()) {
          const is_default = place.name === name
          if (place.is_default !== is_default) save(commit, { ...place, is_default })
        }
      }),
    /** False for an unknown name. */
    remove: (name: string) =>
      store.commit((commit) => {
        const isKnown = sealed.has(name)
        if (isKnown) {
          sealed.remove(name)
          announce(commit, name, 'deleted')
        }
        return isKnown
      }),
  }
}

export type BackupPlaces = ReturnType<typeof openBackupPlaces>
