// The credentials for submodules: those for the service's repository are used for repositories of its owner
// and of owners that the service names, because everyone who may push can name any repository.
import { messageOf } from '../../errors.ts'
import type { AccessSubmodule, SubmoduleAccess } from '../../git/checkout.ts'
import { isSameOrigin, ownerOf } from '../../git/repository.ts'
import { basePathOf, type RepositoryAccess, readCredentials } from './repository-access.ts'
import type { GitTokens } from './tokens.ts'

interface SubmoduleRules extends Pick<RepositoryAccess, 'repository' | 'credentials' | 'connection'> {
  /** Owners whose repositories may be read too, in lower case. */
  addedOwners: readonly string[]
  /** Called when the app gets no token for a submodule, which is then read without one. */
  onProblem(text: string): void
}

export function openSubmoduleAccess(
  ports: { gitTokens: Pick<GitTokens, 'get'> },
  { repository, credentials, connection, addedOwners, onProblem }: SubmoduleRules,
): AccessSubmodule {
  const basePath = basePathOf(connection)
  const allowed = [ownerOf(repository, basePath), ...addedOwners]
  const none: SubmoduleAccess = { credentials: null, deniedOwner: null }
  return async (submodule) => {
    const owner = ownerOf(submodule, basePath)
    if (credentials === null || owner === null || !isSameOrigin(submodule, repository)) return none
    const isApp = connection?.auth === 'github_app'
    // An app reads nothing of others.
    if (isApp && owner !== connection.account?.toLowerCase()) return none
    if (!allowed.includes(owner)) return { ...none, deniedOwner: owner }
    if (!isApp) return { ...none, credentials }
    try {
      return { ...none, credentials: await readCredentials(ports, connection, submodule) }
    } catch (error) {
      onProblem(`${submodule.url} is read without a token: ${messageOf(error)}`)
      return none
    }
  }
}
