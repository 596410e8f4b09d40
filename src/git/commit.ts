// Finds the requested commit with the cheapest request. Only an abbreviated id may need the history.
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
 * Resolves with the full id of a commit that is now available locally. A tag can look like an id: it wins, as
 * in git, unless the id has all its digits. Throws `source_not_found`, or a GitError.
 */
export async function findCommit(places: Places, wanted: CommitRequest): Promise<string> {
  const { branch, commit } = wanted
  if (commit === null) return findHead(places, branch)
  const byId = () => (isCommitId(commit) ? findId(places, { branch, id: commit.toLowerCase() }) : null)
  const byTag = () => findRef(places, { kind: 'tag', name: commit })
  const ways = isFullId(commit) ? [byId, byTag] : [byTag, byId]
  const found = (await ways[0]!()) ?? (await ways[1]!())
  if (found !== null) return found
  const { url } = places.repository
  if (isCommitId(commit)) throw notFound(`commit ${commit} is on no branch or tag of ${url}`)
  const isShort = /^[0-9a-f]{1,3}$/i.test(commit)
  throw notFound(`tag '${commit}' is not in ${url}${isShort ? '; a commit id has at least 4 digits' : ''}`)
}

async function findId(places: Places, wanted: WantedId): Promise<string | null> {
  for (const search of searches(places.remote, wanted)) {
    if (!(await cameBack(search()))) continue
    const found = await places.history.find(wanted.id)
    if (found === 'ambiguous') throw notFound(`commit ${wanted.id} is ambiguous; give more of its digits`)
    if (found !== null) return found
  }
  return null
}

async function findHead(places: Places, name: string): Promise<string> {
  const head =
    (await findRef(places, { kind: 'branch', name })) ?? (await findRef(places, { kind: 'tag', name }))
  if (head === null) throw await missingBranch(places, name)
  return head
}

/** The commit of a branch or a tag of the remote, also of a tag with a message. Null for an unknown ref. */
async function findRef(
  { remote, history, repository }: Places,
  { kind, name }: { kind: 'branch' | 'tag'; name: string },
): Promise<string | null> {
  const ref = `refs/${kind === 'branch' ? 'heads' : 'tags'}/${name}`
  if (!(await cameBack(remote.fetch([`+${ref}:refs/berth/head`], 'none')))) return null
  const found = await history.find('refs/berth/head')
  if (found === null) throw notFound(`${kind} '${name}' of ${repository.url} is no commit: it names files`)
  return found
}

interface WantedId {
  branch: string | null
  /** In lower case. */
  id: string
}

function searches(remote: Remote, { branch, id }: WantedId) {
  const direct = () => remote.fetch([`${id}:refs/berth/direct`], 'none')
  const head = branch === null ? [] : [() => remote.fetch([headOf(branch)], 'none')]
  const past = branch === null ? [] : [() => remote.fetch([headOf(branch)], 'whole')]
  const everything = () =>
    remote.fetch(['+refs/heads/*:refs/berth/heads/*', '+refs/tags/*:refs/berth/tags/*'], 'whole')
  return isFullId(id) ? [direct, ...past, everything] : [...head, ...past, everything]
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
  return isCommitId(commit) && (commit.length === 40 || commit.length === 64)
}

function notFound(message: string): Failure {
  return new Failure('source_not_found', message)
}
