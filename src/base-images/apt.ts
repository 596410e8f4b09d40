// Debian's package tool, with the lists of this host or with lists of our own. The host's lists may be
// missing (container images come without them) or old, and only root can renew them.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommandOptions, hasCommand, run } from './command.ts'

const retryOptions = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2']

export function hasApt(): boolean {
  return hasCommand('apt-get') && hasCommand('dpkg-deb')
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function apt(args: string[], options: CommandOptions = {}): Promise<string> {
  return run('apt-get', ['-q', '-y', ...retryOptions, ...args], options)
}

/** Package lists in Berth's own folder. Needs no root. */
export interface OwnLists {
  /** Renews the lists. Rejects if no source responds. */
  update(signal?: AbortSignal): Promise<void>
  /** Like `apt`, with these lists. Until there are lists of this host's sources, with those of the host. */
  apt(args: string[], options?: CommandOptions): Promise<string>
}

const archive = 'http://deb.debian.org/debian'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const bounded = ['-o', 'Acquire::http::Timeout=10', '-o', 'Acquire::https::Timeout=10']

/** The lists of that release of Debian; of the sources of this host by default. */
export function openOwnLists(directory: string, release: string | null = null): OwnLists {
  const lists = join(directory, 'lists')
  const sources = join(directory, 'sources.list')
  const settings = [
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${join(directory, 'cache')}`,
    // As root, apt would switch to a user who cannot write here.
    'APT::Sandbox::User=root',
    ...(release === null ? [] : [`Dir::Etc::sourcelist=${sources}`, 'Dir::Etc::sourceparts=-']),
  ]
  const ownOptions = settings.flatMap((setting) => ['-o', setting])
  const prepare = async () => {
    await mkdir(join(lists, 'partial'), { recursive: true })
    await mkdir(join(directory, 'cache', 'archives', 'partial'), { recursive: true })
    if (release !== null) await writeFile(sources, `deb [signed-by=${keyring}] ${archive} ${release} main\n`)
  }
  const isFilled = async () => (await readdir(lists).catch(() => [])).some((name) => /Packages/.test(name))
  return {
    async update(signal) {
      await prepare()
      await apt([...ownOptions, ...bounded, 'update'], { signal })
      if (!(await isFilled())) throw new Error('apt-get update found no package lists')
    },
    async apt(args, options) {
      return apt((await isFilled()) || release !== null ? [...ownOptions, ...args] : args, options)
    },
  }
}

/** Lists for the programs of this host. */
export async function withFreshLists<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    if (!isRoot()) throw error
    await apt(['update'], { signal })
    return await work()
  }
}
