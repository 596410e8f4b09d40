// Converts a failed git command to a failure of the product: with git's reason, obscure messages translated,
// and the next step if the repository may be private.
import { Failure } from '../errors.ts'
import type { Credentials } from './credentials.ts'
import { GitError } from './process.ts'
import type { RepositoryUrl } from './repository.ts'
import { hostKeyFailure, type SshAccess } from './ssh.ts'

const maxReasonLength = 300

const refusedCredentials = 'it refused the user name or the password'
const translations: [pattern: RegExp, reason: string][] = [
  [/Could not resolve host/i, 'its host name cannot be resolved'],
  [/Failed to connect to|connect to host/, 'nothing listens at its address'],
  [/could not read (Username|Password)/, 'it requires a user name and a password'],
  [/Operation too slow/, 'the transfer stalled'],
  // git's message for a redirect after authentication.
  [/expected flush after ref listing/, 'it redirects to another address'],
]

const localAdvice =
  'the path must be a git repository that every user of this host may read, or lie below --local-repositories'

const unauthorized = /Authentication failed|HTTP 401|returned error: 401/
const privacy = ['could not read', 'Authentication failed', 'not found', 'returned error: 40[134]']
const refusal = ['Permission denied', 'access denied', 'not appear to be a git repository']
/** The host was not reached, so it did not refuse anything. */
const isUnavailable = /Could not resolve host|Failed to connect to|connect to host/i
const looksPrivate = new RegExp([...privacy, ...refusal].join('|'), 'i')

/** Whether the remote refused the credentials, at any step. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof GitError && error.outputLines.some((line) => unauthorized.test(line))
}

export interface RefusedPlace {
  repository: RepositoryUrl
  credentials: Credentials | null
  ssh: SshAccess | null
  /** Why the connection that serves it supplied no credentials, as a sentence. */
  problem?: string | null
  /** Of a submodule that may not use its parent's credentials. */
  deniedOwner?: string | null
}

/** Other errors pass unchanged. */
export function toFailure(error: unknown, place: RefusedPlace): unknown {
  const { repository, ssh, deniedOwner } = place
  if (!(error instanceof GitError)) return error
  if (isDiskFull(error)) return diskFull()
  const changed = ssh && hostKeyFailure(error, repository, ssh)
  if (changed) return changed
  const output = error.outputLines.join('\n')
  const isRefused = looksPrivate.test(output) && !isUnavailable.test(output)
  const message = `cannot read ${repository.url}: ${reasonOf(error)}`
  if (!isRefused) return new Failure('git_remote_unreachable', message)
  const failure = new Failure('git_remote_unreachable', `${message}; ${adviceFor(place)}`)
  if (deniedOwner) return failure.with({ reason: 'submodule_owner', owner: deniedOwner })
  return repository.kind === 'ssh' ? failure.with({ reason: 'deploy_key' }) : failure
}

/** The same for a commit that is available but cannot be checked out: the error is in the source. */
export function toSourceFailure(error: unknown): unknown {
  if (!(error instanceof GitError)) return error
  if (isDiskFull(error)) return diskFull()
  return new Failure('source_invalid', `the commit cannot be checked out: ${reasonOf(error)}`)
}

function isDiskFull({ outputLines: said }: GitError): boolean {
  return said.some((line) => /No space left on device|Disk quota exceeded/.test(line))
}

export function diskFull(): Failure {
  return new Failure('insufficient_storage', 'the disk is full: the source does not fit')
}

function reasonOf({ outputLines: said }: GitError): string {
  const fatal = said.findLast((line) => /^(fatal|error): /.test(line)) ?? said.at(-1) ?? 'git gave no reason'
  const remote = said.find((line) => /^remote: +\S/.test(line))
  // ssh prints the reason on its own line, before git reports that it could not read.
  const isVague = /Could not read from remote/.test(fatal)
  const before = isVague
    ? said.slice(0, said.indexOf(fatal)).findLast((line) => line.trim() !== '')
    : undefined
  const reason = bare((before ?? fatal).slice(0, maxReasonLength)).replace(/[.\s]+$/, '')
  const isRefused = said.some((line) => unauthorized.test(line))
  const known = isRefused ? refusedCredentials : translations.find(([pattern]) => pattern.test(reason))?.[1]
  const translated = known ?? reason
  const whole = remote === undefined ? translated : `${translated} (${bare(remote)})`
  return whole.slice(0, maxReasonLength)
}

function bare(line: string): string {
  return line
    .replace(/^(?:(?:fatal|error|remote|ERROR): +)+/, '')
    .replace(/^unable to access '[^']*': /, '')
    .replace(/: terminal prompts disabled$/, '')
}

/** What to do about a remote that refuses. */
export function adviceFor(place: RefusedPlace): string {
  const { repository, credentials, ssh, problem, deniedOwner } = place
  if (problem) return problem
  if (deniedOwner) return `the credentials of this service are not used for repositories of ${deniedOwner}`
  if (repository.kind === 'path') return localAdvice
  if (repository.kind === 'ssh') {
    const command = ssh?.command ?? 'berth deploy-key NAME'
    if (ssh?.key)
      return `enter the key of this service as a deploy key of the repository: ${command} shows it`
    return `if it is private, give the service a deploy key: ${command}`
  }
  if (credentials?.connection) {
    return `${credentials.connection.title} may not read it; berth git ls shows whether it still works`
  }
  if (credentials !== null) return 'its user name and token may be wrong, expired or not allowed to read it'
  return 'if it is private, connect its account (berth git connect), or add user:token@ to its URL'
}
