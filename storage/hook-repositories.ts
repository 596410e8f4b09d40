// Where the repositories that pushes named were: a provider keeps their ids when they are renamed.
import type { Store } from './store/store.ts'

/** Of one repository; the newest first. */
const maxKeys = 5
/** Of one connection. */
const maxRepositories = 1000

export function openHookRepositories(store: Store) {
  const rows = store.table<string[]>('hook_repositories')
  const idsOf = (connectionId: string) =>
    [...rows.keys({ start: [connectionId, ''], end: [connectionId, '~'] })] as [string, string][]
  return {
    /** Returns the host and path that the repository has, and those that it had. */
    async remember(connectionId: string, repositoryId: string, key: string): Promise<string[]> {
      const id = [connectionId, repositoryId]
      const known = rows.getOrNull(id) ?? []
      if (known[0] === key) return known
      const keys = [key, ...known.filter((one) => one !== key)].slice(0, maxKeys)
      await store.commit(() => {
        if (known.length === 0) for (const oldest of beyond(idsOf(connectionId))) rows.remove(oldest)
        rows.put(id, keys)
      })
      return keys
    },
    /** Only inside a commit. */
    removeWithin(connectionId: string) {
      for (const id of idsOf(connectionId)) rows.remove(id)
    },
  }
}

/** Those to remove before another is added: the repositories that were created first. */
function beyond(ids: [string, string][]): [string, string][] {
  const count = ids.length + 1 - maxRepositories
  return count > 0 ? ids.sort(([, one], [, other]) => Number(one) - Number(other)).slice(0, count) : []
}
