// The repository that a push names. When it was renamed or moved at the provider, its services get the new
// address, because the provider may give the former one to another repository.
import type { Storage } from '../../../storage/index.ts'
import { isSameOrigin, parseRepositoryUrl, type RepositoryUrl, repositoryKey } from '../../git/repository.ts'
import type { Push } from '../../git-providers/hooks.ts'

export interface RenamedSource {
  /** Of the service. */
  name: string
  from: string
  to: string
}

/** The keys of those that can be addresses of a repository. */
export function keysOf(repositories: string[]): string[] {
  return addressesOf(repositories).map(({ key }) => key)
}

/** Returns what it changed. Repeated after a crash, it changes the rest. */
export async function followRepository(
  { hookRepositories, services }: Storage,
  connectionId: string,
  push: Push,
): Promise<RenamedSource[]> {
  const addresses = addressesOf(push.repositories)
  const key = addresses[0]?.key
  if (push.repositoryId === null || key === undefined) return []
  const former = hookRepositories.keyOf(connectionId, push.repositoryId)
  if (former === key) return []
  const renamed: RenamedSource[] = []
  for (const { id, name, repo_url: from } of former === null ? [] : services.list()) {
    const own = from === null ? null : parseRepositoryUrl(from)
    if (own === null || repositoryKey(own) !== former) continue
    const to = addresses.find(({ repository }) => isSameOrigin(repository, own))?.repository.url
    if (to === undefined) continue
    await services.update(id, (row) => (row.repo_url === from ? { ...row, repo_url: to } : row))
    renamed.push({ name, from: own.url, to })
  }
  await hookRepositories.put(connectionId, push.repositoryId, key)
  return renamed
}

function addressesOf(repositories: string[]): { repository: RepositoryUrl; key: string }[] {
  return repositories.flatMap((url) => {
    try {
      const repository = parseRepositoryUrl(url)
      const key = repositoryKey(repository)
      return key === null ? [] : { repository, key }
    } catch {
      return []
    }
  })
}
