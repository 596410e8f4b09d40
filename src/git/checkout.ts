// Checks out a branch or commit as a plain folder, without `.git`: an image must not contain the history.
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../errors.ts'
import { type CommitRequest, findCommit, noDefaultBranch } from './commit.ts'
import { type Credentials, checkCredentials, createMask } from './credentials.ts'
import { writingEnvironment } from './environment.ts'
import { openHistory } from './history.ts'
import { fetchLargeFiles } from './lfs/large-files.ts'
import { GitError, runGit } from './process.ts'
import { defaultBranchOf, openRemote } from './remote.ts'
import { toFailure, toSourceFailure } from './remote-failure.ts'
import type { HostRules } from './remote-host.ts'
import { checkBranch, checkCommit, type RepositoryUrl } from './repository.ts'
import type { SshAccess } from './ssh.ts'
import { listSubmodules, submoduleDirectory } from './submodules.ts'

export interface CheckoutRequest {
  repository: RepositoryUrl
  credentials: Credentials | null
  /** Also for submodules: one with an ssh address is on the host of its parent. */
  ssh: SshAccess | null
  /** Why the connection that serves the repository supplied no credentials, as a sentence. */
  problem?: string | null
  /** Of the git provider on its host; empty for most. */
  basePath: string
  accessSubmodule: AccessSubmodule
  /** Null for the default branch of the remote. */
  branch: string | null
  /** Null for the branch's head. */
  commit: string | null
  /** Emptied before the checkout. */
  directory: string
  /** How many bytes the files of Git LFS may have. */
  roomBytes(): Promise<number>
  /** Directories of this host whose repositories may be read although others may not (see local.ts). */
  localRepositories: string[]
  hostRules: HostRules
  /** Carried by every git process, so that a later daemon can end them (see `reapProcesses`). */
  marker: string
  onLine(line: string): void
  signal: AbortSignal
}

/** Which credentials the checkout uses for a submodule that names none itself. */
export type AccessSubmodule = (submodule: RepositoryUrl) => Promise<SubmoduleAccess>

export interface SubmoduleAccess {
  credentials: Credentials | null
  /** The submodule's owner, if that is why the credentials are not used. */
  deniedOwner: string | null
}

export interface Checkout {
  commitSha: string
  /** At most 4 KiB. */
  commitMessage: string
}

/** With the requested or detected branch; null if only a commit counts. */
export type BranchCheckout = Checkout & { branch: string | null }

const maxMessageBytes = 4096
const maxSubmoduleDepth = 5

/**
 * Throws `invalid_request` (malformed input), `source_not_found` (a missing branch or commit),
 * `git_remote_unreachable`, `repository_private`, `source_invalid` (a submodule or a file that is not
 * available), `insufficient_storage`, or the signal's reason.
 */
export async function checkoutSource(request: CheckoutRequest): Promise<BranchCheckout> {
  const { repository, credentials, onLine } = request
  const commit = request.commit === null ? null : checkCommit(request.commit)
  if (credentials !== null) checkCredentials(credentials)
  const wanted = request.branch === null ? null : checkBranch(request.branch)
  const branch = wanted ?? (await readDefaultBranch(request, commit !== null))
  onLine(`cloning ${repository.url} ${commit === null ? `branch ${branch}` : `commit ${commit}`}`)
  const wantedCommit = { branch, commit } as CommitRequest
  const checkout = await checkoutTree({ ...request, deniedOwner: null, wanted: wantedCommit, depth: 0 })
  onLine(createMask(credentials)(`checked out ${title(checkout)}`))
  return { ...checkout, branch }
}

/** The remote's default branch. A commit needs none. */
async function readDefaultBranch(request: CheckoutRequest, isOptional: boolean): Promise<string | null> {
  const { repository, directory, onLine } = request
  await mkdir(directory, { recursive: true })
  const remote = openRemote({ ...request, onLine: () => undefined })
  const advertised = await remote.advertised().catch((error: unknown) => {
    throw toFailure(error, request)
  })
  const branch = defaultBranchOf(advertised)
  if (branch === null && !isOptional) throw noDefaultBranch(repository, advertised)
  if (branch !== null) onLine(`the default branch is ${checkBranch(branch)}`)
  return branch
}

interface Tree extends Omit<CheckoutRequest, 'branch' | 'commit'>, Pick<SubmoduleAccess, 'deniedOwner'> {
  wanted: CommitRequest
  depth: number
}

async function checkoutTree(tree: Tree): Promise<Checkout> {
  await empty(tree.directory)
  const commitSha = await fetchCommit(tree)
  await write(tree, ['checkout', '--quiet', '--detach', commitSha, '--'])
  await fetchLargeFiles(tree)
  const { commitMessage, submodules } = await readCommit(tree, commitSha)
  await removeHistory(tree)
  if (submodules.length > 0 && tree.depth === maxSubmoduleDepth) {
    throw new Failure('source_invalid', `submodules are nested deeper than ${maxSubmoduleDepth}`)
  }
  for (const { path, commit, repository } of submodules) {
    tree.onLine(`submodule ${path}: cloning ${repository.url} commit ${commit}`)
    const directory = await submoduleDirectory(tree.directory, path)
    await checkoutTree({
      ...tree,
      ...(await accessOf(repository, tree)),
      problem: null,
      repository,
      directory,
      wanted: { branch: null, commit },
      depth: tree.depth + 1,
    })
  }
  return { commitSha, commitMessage }
}

async function accessOf(
  submodule: RepositoryUrl,
  { accessSubmodule }: Pick<Tree, 'accessSubmodule'>,
): Promise<SubmoduleAccess> {
  const { credentials } = submodule
  return credentials === null ? accessSubmodule(submodule) : { credentials, deniedOwner: null }
}

async function readCommit(tree: Tree, sha: string) {
  const history = openHistory(tree.directory, tree.marker, tree.signal)
  try {
    const commitMessage = clip(await history.message(sha, maxMessageBytes), maxMessageBytes)
    return { commitMessage, submodules: await listSubmodules(history, sha, tree) }
  } catch (error) {
    throw toSourceFailure(error)
  }
}

/** A repository uses SHA-1 or SHA-256, and reports which one only after a request with the wrong one. */
async function fetchCommit(tree: Tree): Promise<string> {
  try {
    return await fetchCommitAs(tree, 'sha1').catch((error) => {
      if (isOtherHash(error)) return fetchCommitAs(tree, 'sha256')
      throw error
    })
  } catch (error) {
    throw toFailure(error, tree)
  }
}

async function fetchCommitAs(tree: Tree, hash: 'sha1' | 'sha256'): Promise<string> {
  const { repository, directory, marker, signal } = tree
  await removeHistory(tree)
  await write(tree, ['init', '--quiet', '--template=', '--initial-branch=main', `--object-format=${hash}`])
  return findCommit(
    { remote: openRemote(tree), history: openHistory(directory, marker, signal), repository },
    tree.wanted,
  )
}

function isOtherHash(error: unknown): boolean {
  return error instanceof GitError && /mismatched algorithms/.test(error.outputLines.join('\n'))
}

/** Runs git for local files only, so it never gets the credentials. */
async function write(
  { directory, marker, credentials, onLine, signal }: Tree,
  args: string[],
): Promise<void> {
  try {
    const env = writingEnvironment(marker)
    await runGit(args, { cwd: directory, env, mask: createMask(credentials), onLine, signal })
  } catch (error) {
    throw toSourceFailure(error)
  }
}

async function empty(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const names = await readdir(directory)
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })))
}

async function removeHistory({ directory }: Tree): Promise<void> {
  await rm(join(directory, '.git'), { recursive: true, force: true })
}

/** The commit in the format of `git log --oneline`. */
function title({ commitSha, commitMessage }: Checkout): string {
  const subject = commitMessage.split('\n', 1)[0] ?? ''
  return `${commitSha.slice(0, 7)} ${subject.replace(/\p{Cc}/gu, ' ')}`.trimEnd()
}

/** Whole characters only. */
function clip(text: string, maxBytes: number): string {
  const start = text.slice(0, maxBytes)
  const bytes = Buffer.from(start)
  if (bytes.length <= maxBytes) return start
  let end = maxBytes
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString('utf8')
}
