// One checkout into a temporary folder, as a deploy requests it, with its log.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type AccessSubmodule, type BranchCheckout, checkoutSource } from '../../../src/git/checkout.ts'
import type { Credentials } from '../../../src/git/credentials.ts'
import type { HostRules } from '../../../src/git/remote-host.ts'
import { isSameOrigin, parseRepositoryUrl } from '../../../src/git/repository.ts'
import type { SshAccess } from '../../../src/git/ssh.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { testHostRules } from './git-server.ts'

export interface CheckoutOptions {
  url: string
  branch?: string | null
  commit?: string
  credentials?: Credentials
  ssh?: SshAccess
  roomBytes?: number
  signal?: AbortSignal
  marker?: string
  directory?: string
  localRepositories?: string[]
  hostRules?: Partial<HostRules>
  /** By default submodules of the same host get the credentials. */
  accessSubmodule?: AccessSubmodule
}

export interface CheckoutRun {
  directory: string
  lines: string[]
  done: Promise<BranchCheckout>
}

export function startCheckout(t: TestContext, options: CheckoutOptions): CheckoutRun {
  const { directory = join(temporaryDirectory(t), 'source') } = options
  const lines: string[] = []
  const repository = parseRepositoryUrl(options.url)
  const done = checkoutSource({
    repository,
    credentials: options.credentials ?? repository.credentials,
    ssh: options.ssh ?? null,
    roomBytes: async () => options.roomBytes ?? 2 ** 30,
    branch: options.branch === undefined ? 'main' : options.branch,
    commit: options.commit ?? null,
    directory,
    localRepositories: options.localRepositories ?? [],
    basePath: '',
    accessSubmodule:
      options.accessSubmodule ??
      (async (submodule) => ({
        credentials: isSameOrigin(submodule, repository) ? (options.credentials ?? null) : null,
        deniedOwner: null,
      })),
    hostRules: { ...testHostRules, ...options.hostRules },
    marker: options.marker ?? 'dep-test',
    onLine: (line) => lines.push(line),
    signal: options.signal ?? new AbortController().signal,
  })
  return { directory, lines, done }
}

/**
 * Every file below, by path: its content, or `-> target` for a link. Folders are listed only if
 * they are empty.
 */
export function readTree(directory: string, prefix = ''): Record<string, string> {
  const names = readdirSync(directory)
  if (names.length === 0 && prefix !== '') return { [prefix]: '' }
  return Object.assign({}, ...names.map((name) => readEntry(join(directory, name), prefix + name)))
}

function readEntry(path: string, name: string): Record<string, string> {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) return { [name]: `-> ${readlinkSync(path)}` }
  return status.isDirectory() ? readTree(path, `${name}/`) : { [name]: readFileSync(path, 'utf8') }
}
