// The submodules of a commit. `.gitmodules` is untrusted: its addresses obey the rules for repositories.
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, messageOf } from '../errors.ts'
import type { History } from './history.ts'
import { GitError } from './process.ts'
import {
  parseRepositoryUrl,
  type RepositoryKind,
  type RepositoryUrl,
  resolveRepositoryUrl,
  sshParts,
} from './repository.ts'

export interface Submodule {
  /** Relative to the parent's folder. */
  path: string
  repository: RepositoryUrl
  commit: string
}

interface Parent {
  repository: RepositoryUrl
  /** Of the git provider on its host; empty for most. */
  basePath: string
}

/** The protocols of a submodule, by the kind of its parent. Never a path, which would read this host. */
const kinds: Record<RepositoryKind, RepositoryKind[]> = {
  https: ['https'],
  http: ['https', 'http'],
  ssh: ['https', 'ssh'],
  path: ['https'],
}

/** Chromium has some 300, the collection of Emacs packages (emacsmirror/epkgs) some 9,000. */
const maxSubmodules = 10_000
/** A longer path cannot be checked out. */
const maxPathLength = 4096

/** The submodules that have a commit in the tree. Throws `source_invalid` for a rejected address. */
export async function listSubmodules(history: History, sha: string, parent: Parent): Promise<Submodule[]> {
  const entries = (await readEntries(history, sha)).flatMap(({ path = '', url, update }) =>
    isPlain(path) && url !== undefined && update !== 'none' ? [{ path, url }] : [],
  )
  if (entries.length > maxSubmodules)
    throw new Failure('source_invalid', `.gitmodules names more than ${maxSubmodules} submodules`)
  const paths = entries.map(({ path }) => path)
  const commits = await history.linkedCommits(sha, paths)
  return entries.flatMap(({ path, url }) => {
    const commit = commits.get(path)
    return commit === undefined ? [] : [{ path, commit, repository: locate(path, url, parent) }]
  })
}

/** The folder of a submodule in the checkout. Throws `source_invalid` if a link points elsewhere. */
export async function submoduleDirectory(parentDirectory: string, path: string): Promise<string> {
  const directory = join(await realpath(parentDirectory), path)
  const realPath = await realpath(directory).catch(() => null)
  if (realPath !== directory) throw refusal(path, 'its path is not a folder of the checkout')
  return directory
}

type Entry = Partial<Record<'path' | 'url' | 'update', string>>

async function readEntries(history: History, sha: string): Promise<Entry[]> {
  const settings = await history.settingsOf(sha, '.gitmodules').catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error
    const reason = (error.outputLines[0] ?? '').slice(0, 200)
    throw new Failure('source_invalid', `.gitmodules cannot be read as a git configuration: ${reason}`)
  })
  return groupByName(settings)
}

/** Other paths cannot be in a tree that git checks out, or would break a log line. */
function isPlain(path: string): boolean {
  return (
    path.length <= maxPathLength &&
    !/\p{Cc}/u.test(path) &&
    path.split('/').every((part) => !['', '.', '..'].includes(part))
  )
}

function groupByName(settings: [key: string, value: string][]): Entry[] {
  const entries = new Map<string, Entry>()
  for (const [key, value] of settings) {
    const [, name, field] = /^submodule\.(.+)\.(path|url|update)$/s.exec(key) ?? []
    if (name !== undefined) entries.set(name, { ...entries.get(name), [field as keyof Entry]: value })
  }
  return [...entries.values()]
}

function locate(path: string, url: string, parent: Parent): RepositoryUrl {
  const repository = resolve(path, url, parent)
  if (!kinds[parent.repository.kind].includes(repository.kind)) {
    throw refusal(path, `it is fetched over https only, but its URL is ${nouns[repository.kind]}`, 'https')
  }
  if (repository.kind === 'ssh' && repository.host !== parent.repository.host) {
    throw refusal(path, "it is fetched over ssh from its parent's host only", 'https')
  }
  return repository
}

const nouns: Record<RepositoryKind, string> = {
  https: 'https',
  http: 'plain http',
  ssh: 'ssh',
  path: 'a local path',
}

function resolve(path: string, url: string, parent: Parent): RepositoryUrl {
  try {
    return overHttp(resolveRepositoryUrl(parent.repository, url), parent)
  } catch (error) {
    throw refusal(path, messageOf(error))
  }
}

/** A submodule that names its parent's host over ssh is read like its parent. */
function overHttp(submodule: RepositoryUrl, { repository: parent, basePath }: Parent): RepositoryUrl {
  const ssh = sshParts(submodule)
  if (ssh === null || (parent.kind !== 'https' && parent.kind !== 'http')) return submodule
  const { hostname, origin } = new URL(parent.url)
  return ssh.hostname === hostname ? parseRepositoryUrl(`${origin}${basePath}/${ssh.path}`) : submodule
}

/** With `wanted`, the reason ends with what to write instead. */
function refusal(path: string, why: string, wanted?: 'https'): Failure {
  const remedy = wanted ? '; write its https address into .gitmodules' : ''
  return new Failure('source_invalid', `submodule '${path}' is refused: ${why}${remedy}`)
}
