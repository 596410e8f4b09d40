// Finds the requested commit and fetches as little else as the remote allows. The cheapest request comes
// first; only an abbreviated id that is not a branch head needs the history.
import { Failure } from '../errors.ts'
import type { History } from './history.ts'
import { GitError } from './process.ts'
import { type Advertised, branchesOf, type Remote } from './remote.ts'
import { isCommitId, type RepositoryUrl } from './repository.ts'

/** A branch or a tag, or a commit by its full or abbreviated id or by a tag. A submodule has no branch. */
export type CommitRequest = { branch: string; commit: null } | { branch: string | null; commit: string }

interface Places {
  remote: Remote
  history: History
  repository: RepositoryUrl
}

/**
 * Resolves with the full id of a commit that is now available locally. Throws `source_not_found`, or
 * a GitError.
 */
export async function findCommit(places: Places, wanted: CommitRequest): Promise<string> {
  if (wanted.commit === null) return findHead(places, wanted.branch)
  for (const search of isCommitId(wanted.commit) ? searches(places.remote, wanted) : []) {
    if (!(await cameBack(search()))) continue
    const found = await places.history.find(wanted.commit)
    if (found === 'ambiguous') throw notFound(`commit ${wanted.commit} is ambiguous; give more of its digits`)
    if (found !== null) return found
  }
  const tagged = await findRef(places, `refs/tags/${wanted.commit}`)
  if (tagged !== null) return tagged
  const { url } = places.repository
  if (!isCommitId(wanted.commit)) throw notFound(`tag '${wanted.commit}' is not in ${url}`)
  throw notFound(`commit ${wanted.commit} is on no branch or tag of ${url}`)
}

async function findHead(places: Places, branch: string): Promise<string> {
  const found = await findRef(places, `refs/heads/${branch}`)
  const head = found ?? (await findRef(places, `refs/tags/${branch}`))
  if (head === null) throw await missingBranch(places, branch)
  return head
}

/** The commit of a branch or a tag of the remote, also of a tag with a message. Null for an unknown ref. */
async function findRef({ remote, history }: Places, ref: string): Promise<string | null> {
  const isThere = await cameBack(remote.fetch([`+${ref}:refs/berth/head`], 'none'))
  const found = isThere ? await history.find('refs/berth/head') : null
  return found === 'ambiguous' ? null : found
}

function searches(remote: Remote, { branch, commit }: { branch: string | null; commit: string }) {
  const direct = () => remote.fetch([`${commit}:refs/berth/direct`], 'none')
  const head = branch === null ? [] : [() => remote.fetch([headOf(branch)], 'none')]
  const past = branch === null ? [] : [() => remote.fetch([headOf(branch)], 'whole')]
  const everything = () =>
    remote.fetch(['+refs/heads/*:refs/berth/heads/*', '+refs/tags/*:refs/berth/tags/*'], 'whole')
  const fetchCommit = () => fetchShown(remote, commit)
  return isFullId(commit) ? [direct, ...past, everything] : [...head, ...past, everything, fetchCommit]
}

/** Remotes also list refs that are not branches or tags, such as the heads of pull requests. */
async function fetchShown(remote: Remote, commit: string): Promise<void> {
  const { refs } = await remote.advertised(({ sha }) => sha.startsWith(commit))
  const shas = new Set(refs.map(({ sha }) => sha))
  // Many ids would not fit on a command line. So many are ambiguous in any case.
  const refspecs = [...shas].slice(0, 100).map((sha) => `${sha}:refs/berth/shown/${sha}`)
  if (refspecs.length > 0) await remote.fetch(refspecs, 'none')
}

/** False if the remote is reachable but does not have the commit, or refuses to send it. */
async function cameBack(fetching: Promise<void>): Promise<boolean> {
  try {
    await fetching
    return true
  } catch (error) {
    if (error instanceof GitError && refused.test(error.outputLines.join('\n'))) return false
    throw error
  }
}

const refused = /couldn't find remote ref|not our ref|unadvertised object|remote error: want \S+ not valid/

async function missingBranch({ remote, repository }: Places, branch: string): Promise<Failure> {
  const advertised = await remote.advertised()
  const names = namesOf(advertised)
  const missing = `branch or tag '${branch}' is not in ${repository.url}`
  if (names.length === 0) return notFound(`${missing}: the repository is empty`)
  const { defaultBranch } = advertised
  if (defaultBranch !== null) {
    const failure = notFound(`${missing}: its default branch is '${defaultBranch}'`)
    return failure.with({ default_branch: defaultBranch })
  }
  return notFound(`${missing}: it has ${someOf(names)}`)
}

/** The failure for a remote without a usable default branch: a user must name a branch. */
export function noDefaultBranch({ url }: RepositoryUrl, advertised: Advertised): Failure {
  const names = namesOf(advertised)
  if (names.length === 0) return notFound(`${url} has no branch: the repository is empty`)
  return notFound(`${url} has no default branch: set the branch to one of ${someOf(names)}`)
}

function namesOf(advertised: Advertised): string[] {
  return branchesOf(advertised).map(({ name }) => `'${name}'`)
}

function someOf(names: readonly string[]): string {
  const more = names.length > 5 ? `, and ${names.length - 5} more` : ''
  return `${names.slice(0, 5).join(', ')}${more}`
}

function headOf(branch: string): string {
  return `+refs/heads/${branch}:refs/berth/head`
}

function isFullId(commit: string): boolean {
  return commit.length === 40 || commit.length === 64
}

function notFound(message: string): Failure {
  return new Failure('source_not_found', message)
}
