// Where the repositories that pushes named were last: a provider keeps their ids when they are renamed.
import type { Store } from './store/store.ts'

export function openHookRepositories(store: Store) {
  const keys = store.table<string>('hook_repositories')
  return {
    /** Host and path; null for a repository without a push. */
    keyOf: (connectionId: string, repositoryId: string) => keys.getOrNull([connectionId, repositoryId]),
    put: (connectionId: string, repositoryId: string, key: string) =>
      store.commit(() => keys.put([connectionId, repositoryId], key)),
    /** Only inside a commit. */
    removeWithin(connectionId: string) {
      for (const key of [...keys.keys({ start: [connectionId, ''], end: [connectionId, '~'] })])
        keys.remove(key)
    },
  }
}
