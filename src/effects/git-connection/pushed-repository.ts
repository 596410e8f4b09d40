// The repository that a push names: by its addresses, and by those that it had before it was renamed. Its
// services still have a former address, which their provider redirects.
import type { Storage } from '../../../storage/index.ts'
import { parseRepositoryUrl, repositoryKey } from '../../git/repository.ts'
import type { Push } from '../../git-providers/hooks.ts'

/** The keys of those that can be addresses of a repository. */
export function keysOf(repositories: string[]): string[] {
  return repositories.flatMap((url) => {
    try {
      return repositoryKey(parseRepositoryUrl(url)) ?? []
    } catch {
      return []
    }
  })
}

/** The present keys first. Remembers the present ones. */
export async function allKeysOf(
  { hookRepositories }: Storage,
  connectionId: string,
  { repositories, repositoryId }: Push,
): Promise<string[]> {
  const keys = keysOf(repositories)
  const [key] = keys
  if (repositoryId === null || key === undefined) return keys
  return [...keys, ...(await hookRepositories.remember(connectionId, repositoryId, key))]
}
