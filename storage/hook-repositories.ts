// Where the repositories that pushes named were: a provider keeps their ids when they are renamed.
import type { Store } from './store/store.ts'

/** Of one repository; the newest first. */
const maxKeys = 5

export function openHookRepositories(store: Store) {
  const rows = store.table<string[]>('hook_repositories')
  return {
    /** Returns the host and path that the repository has, and those that it had. */
    async remember(connectionId: string, repositoryId: string, key: string): Promise<string[]> {
      const id = [connectionId, repositoryId]
      const known = rows.getOrNull(id) ?? []
      if (known[0] === key) return known
      const keys = [key, ...known.filter((one) => one !== key)].slice(0, maxKeys)
      await store.commit(() => rows.put(id, keys))
      return keys
    },
    /** Only inside a commit. */
    removeWithin(connectionId: string) {
      for (const key of [...rows.keys({ start: [connectionId, ''], end: [connectionId, '~'] })])
        rows.remove(key)
    },
  }
}
