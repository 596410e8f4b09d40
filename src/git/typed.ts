// Parses user input by git's rules: a repository, a branch, a commit. Each function throws `invalid_request`.
import type { Credentials } from './credentials.ts'
import { checkBranch, checkCommit, parseRepositoryUrl } from './repository.ts'

/** Stored credentials, with the scheme, host and port that they are for. */
export type TypedCredentials = Credentials & { origin: string }

export const typed = {
  /** `url` never contains the credentials. */
  repository(text: string): { url: string; credentials: TypedCredentials | null } {
    const { url, credentials } = parseRepositoryUrl(text)
    return { url, credentials: credentials && { ...credentials, origin: new URL(url).origin } }
  },
  branch: checkBranch,
  commit: checkCommit,
}
