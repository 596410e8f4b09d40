// Lists and fetches from a remote repository. Every command is a bounded group of processes that may use only
// the protocol of the repository (see process.ts, environment.ts).
import { Failure } from '../errors.ts'
import { duration } from '../quantities.ts'
import { type Credentials, createMask } from './credentials.ts'
import { type Environment, remoteEnvironment } from './environment.ts'
import { openLocal } from './local.ts'
import { GitError, type GitRun, runGit } from './process.ts'
import { isUnauthorized, toFailure } from './remote-failure.ts'
import { type HostRules, pinHost } from './remote-host.ts'
import { parseRepositoryUrl, type RepositoryUrl } from './repository.ts'
import { type SshAccess, withSshKey } from './ssh.ts'
import { createTagList, type Tag } from './tags.ts'

export interface RemotePlace {
  repository: RepositoryUrl
  credentials: Credentials | null
  /** Null if no service is concerned. */
  ssh: SshAccess | null
  /** Why the connection that serves it supplied no credentials, as a sentence. */
  problem?: string | null
  /** The working directory of git; fetched commits go into its `.git`. */
  directory: string
  /** Directories of this host whose repositories may be read although others may not (see local.ts). */
  localRepositories: string[]
  hostRules: HostRules
  marker: string
  onLine(line: string): void
  signal: AbortSignal
}

/** All reject with a GitError: only the caller knows whether a missing commit is a failure. */
export interface Remote {
  /** The branches of the remote. */
  advertised(): Promise<Advertised>
  /** The commit of a branch, or of the default branch; null if the remote has no such branch. */
  head(branch: string | null): Promise<string | null>
  /** Those that match, the highest one first. */
  highestTags(pattern: string): Promise<Tag[]>
  /** Where it is, as far as known now: its server may have redirected a command. */
  repository(): RepositoryUrl
  /** `history: 'none'` fetches only the named commits, `'whole'` also all their ancestors. */
  fetch(refspecs: string[], history: 'none' | 'whole', parts?: CommitParts): Promise<void>
}

/** Of the files, by default with their contents. A server that cannot leave out parts sends all. */
export type CommitParts = 'with contents' | 'names only' | 'message only'

const filters: Record<CommitParts, string[]> = {
  'with contents': [],
  'names only': ['--filter=blob:none'],
  'message only': ['--filter=tree:0'],
}

export interface Advertised {
  defaultBranch: string | null
  branches: Branch[]
}

interface Branch {
  name: string
  sha: string
}

/** The largest number of branches known, in a repository of Windows, is some 4,000. */
const maxBranches = 100_000

const listTimeoutMs = 20_000
/** A working directory that cannot contain a repository. */
const nowhere = '/proc'
/** Headers without their secrets, on standard error. */
const traceVariables = { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1', GIT_TRACE_REDACT: '1' }
/** git's value for "no limit". Unlike --unshallow, it also works for a complete repository. */
const wholeDepth = 0x7fffffff

const headPrefix = 'ref: refs/heads/'

interface RunOptions {
  traced: boolean
  onOutput?: GitRun['onOutput'] | undefined
}

export function openRemote({
  repository,
  credentials,
  ssh,
  directory,
  localRepositories,
  hostRules,
  marker,
  onLine,
  signal,
}: RemotePlace): Remote {
  let mask = createMask(credentials)
  let current: Target = { repository, credentials }

  async function runAt(target: Target, args: string[], options: string[], more: RunOptions): Promise<string> {
    const address = await toGitAddress(target.repository, localRepositories)
    const pinned = await pinHost(target.repository, hostRules)
    const { traced, onOutput } = more
    const whole = [...args, ...address, ...options]
    const runWith = (variables: Environment | null) => {
      const settings = { marker, pinned, ssh: variables }
      const env = remoteEnvironment(target.repository, target.credentials, settings)
      const shared = { cwd: directory, signal }
      if (!traced) return runGit(whole, { ...shared, env, mask, onLine, ...(onOutput && { onOutput }) })
      // The headers of a trace are read and never shown: masking would change the address in them.
      const quiet = { mask: (text: string) => text, onLine() {} }
      return runGit(whole, { ...shared, ...quiet, env: { ...env, ...traceVariables } })
    }
    return target.repository.kind === 'ssh' && ssh?.key
      ? withSshKey(ssh.key, target.repository, runWith)
      : runWith(null)
  }

  async function run(args: string[], options: string[], onOutput?: GitRun['onOutput']): Promise<void> {
    try {
      await runOnce(args, options, onOutput)
    } catch (error) {
      // A token may end while it is used: its connection renews it for another request.
      const renewed = isUnauthorized(error) ? await current.credentials?.connection?.renew() : null
      if (!renewed) throw error
      const [former, latter] = [mask, createMask(renewed)]
      mask = (text) => latter(former(text))
      current = { ...current, credentials: renewed }
      await runOnce(args, options, onOutput)
    }
  }

  async function runOnce(args: string[], options: string[], onOutput?: GitRun['onOutput']): Promise<void> {
    const { target } = await followRedirects(
      current,
      (at, { traced }) => runAt(at, args, options, { traced, onOutput }),
      (at, { traced }) => runAt(at, ['ls-remote'], [], { traced }),
    )
    current = target
  }

  return {
    advertised: async () => {
      const advertised: Advertised = { defaultBranch: null, branches: [] }
      await run(['ls-remote', '--symref'], [], (line) => readAdvertised(line, advertised))
      if (advertised.branches.length <= maxBranches) return advertised
      throw new GitError('ls-remote', [`it has more than ${maxBranches} branches`])
    },
    head: async (branch) => {
      const advertised: Advertised = { defaultBranch: null, branches: [] }
      const refs = branch === null ? [] : [`refs/heads/${branch}`]
      await run(['ls-remote', '--symref'], refs, (line) => readAdvertised(line, advertised))
      const name = branch ?? defaultBranchOf(advertised)
      return advertised.branches.find((one) => one.name === name)?.sha ?? null
    },
    highestTags: async (pattern) => {
      const refs = [`refs/tags/${pattern}`, `refs/tags/${pattern}^{}`]
      const tags = createTagList(pattern)
      await run(['ls-remote', '--sort=-version:refname'], refs, tags.read)
      return tags.highest()
    },
    repository: () => current.repository,
    fetch: async (refspecs, history, parts = 'with contents') => {
      const depth = history === 'none' ? 1 : wholeDepth
      const quiet = ['--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
      await run(['fetch', '--progress', `--depth=${depth}`, ...filters[parts], ...quiet], refspecs)
    },
  }
}

/** The default branch first, the others by name. Throws `git_remote_unreachable`, also after 20 s. */
export async function listBranches(
  place: QuickPlace,
): Promise<{ defaultBranch: string | null; branches: Branch[] }> {
  const advertised = await askRemote(place, (remote) => remote.advertised())
  return { defaultBranch: advertised.defaultBranch, branches: branchesOf(advertised) }
}

/** The commit of a branch, or of the default branch; null without it. Throws like `listBranches`. */
export function readHead(place: QuickPlace, branch: string | null): Promise<Located<string | null>> {
  return askRemote(place, async (remote) => located(remote, await remote.head(branch)))
}

/** The highest tags that match, at most ten, the highest one first. Throws like `listBranches`. */
export function readHighestTags(place: QuickPlace, pattern: string): Promise<Located<Tag[]>> {
  return askRemote(place, async (remote) => located(remote, await remote.highestTags(pattern)))
}

interface Located<T> {
  found: T
  /** Where it was found, after redirects of the server. */
  repository: RepositoryUrl
}

const located = <T>(remote: Remote, found: T): Located<T> => ({ found, repository: remote.repository() })

type QuickPlace = Omit<RemotePlace, 'directory' | 'onLine'>

async function askRemote<T>(place: QuickPlace, ask: (remote: Remote) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(listTimeoutMs)
  const signal = AbortSignal.any([place.signal, deadline])
  try {
    return await ask(openRemote({ ...place, directory: nowhere, signal, onLine: () => {} }))
  } catch (error) {
    if (error !== deadline.reason) throw toFailure(error, place)
    const late = `cannot read ${place.repository.url}: no response within ${duration(listTimeoutMs)}`
    throw new Failure('git_remote_unreachable', late)
  }
}

export function branchesOf({ defaultBranch, branches }: Advertised): Branch[] {
  const rank = ({ name }: Branch) => (name === defaultBranch ? 0 : 1)
  return branches.toSorted((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1))
}

/** Also that of a remote that does not name it, as with a detached HEAD, if the choice is clear. */
export function defaultBranchOf(advertised: Advertised): string | null {
  const names = branchesOf(advertised).map(({ name }) => name)
  const { defaultBranch } = advertised
  if (defaultBranch !== null && names.includes(defaultBranch)) return defaultBranch
  const usual = ['main', 'master'].find((name) => names.includes(name))
  return usual ?? (names.length === 1 ? names[0]! : null)
}

/** The address of a local path is checked before each command, because it may have changed. */
async function toGitAddress({ kind, url }: RepositoryUrl, localRepositories: string[]): Promise<string[]> {
  if (kind !== 'path') return ['--', url]
  const local = await openLocal(url, localRepositories)
  return [`--upload-pack=${local.uploadPack}`, '--', local.url]
}

/** One branch more than the limit shows that there are too many. */
function readAdvertised(line: string, advertised: Advertised): void {
  const [what = '', name = ''] = line.split('\t')
  if (name === 'HEAD' && what.startsWith(headPrefix)) advertised.defaultBranch = what.slice(headPrefix.length)
  const isBranch = /^[0-9a-f]+$/.test(what) && name.startsWith('refs/heads/')
  if (isBranch && advertised.branches.length <= maxBranches)
    advertised.branches.push({ name: name.slice('refs/heads/'.length), sha: what })
}

// Follows redirects of a server one by one, because git would not check the next host.

interface Target {
  repository: RepositoryUrl
  credentials: Credentials | null
}

/** Runs git; with `traced` its error contains the response headers. */
type Run<T> = (target: Target, options: { traced: boolean }) => Promise<T>

const maxRedirects = 5
const suffix = '/info/refs'

/** Also resolves with the final location of the repository, for later commands. */
async function followRedirects<T>(
  start: Target,
  run: Run<T>,
  look: Run<unknown>,
): Promise<{ result: T; target: Target }> {
  let target = start
  for (let count = 0; ; count++) {
    try {
      return { result: await run(target, { traced: false }), target }
    } catch (error) {
      if (!isRedirect(error) || count === maxRedirects) throw error
      const next = await readRedirect(target, look)
      if (next === null) throw error
      target = next
    }
  }
}

async function readRedirect(target: Target, look: Run<unknown>): Promise<Target | null> {
  const error = await look(target, { traced: true }).catch((reason: unknown) => reason)
  if (!(error instanceof GitError)) {
    if (error instanceof Error) throw error
    return null
  }
  const location = error.outputLines.findLast((line) => header.test(line))?.match(header)?.[1]
  return location === undefined ? null : nextTarget(target, location)
}

const header = /<= Recv header: location: *(\S+)/i

/** Credentials are sent to their own origin only. Throws for a redirect that is not followed. */
function nextTarget({ repository, credentials }: Target, location: string): Target | null {
  const from = new URL(`${repository.url}${suffix}`)
  if (!URL.canParse(location, from.href)) return null
  const to = new URL(location, from)
  const base = to.pathname.endsWith(suffix) ? to.pathname.slice(0, -suffix.length) : null
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:'
  if (base === null || isDowngrade || !/^https?:$/.test(to.protocol)) {
    const what = isDowngrade ? 'away from https' : 'to something other than a repository'
    throw new Failure('git_remote_unreachable', `cannot read ${repository.url}: it redirects ${what}`)
  }
  const next = { ...parseRepositoryUrl(`${to.origin}${base}`), credentials: null }
  return { repository: next, credentials: to.origin === from.origin ? credentials : null }
}

function isRedirect(error: unknown): boolean {
  return (
    error instanceof GitError && error.outputLines.some((line) => /returned error: 30[1278]\b/.test(line))
  )
}
