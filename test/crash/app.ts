// The apps that are deployed: a page that shows its version, a build that takes a moment, and sometimes a
// fault.
// Mind: which version a commit is, and whether it can work, is known here alone; the checks ask for it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../support/command.ts'
import { baseImages } from '../support/images.ts'
import type { Chance } from './chance.ts'

/** `broken` fails to build, `crashing` ends at its start. */
export type Flavor = 'good' | 'broken' | 'crashing'

export interface Commit {
  sha: string
  page: string
  flavor: Flavor
}

export interface App {
  name: string
  directory: string
  /** The oldest first. */
  commits: Commit[]
  commit(flavor: Flavor): Promise<Commit>
  find(sha: string): Commit | undefined
}

/** Makes a repository; `nonce` is in every page, so that no build is cached from an earlier run. */
export async function createApp(root: string, name: string, nonce: string, chance: Chance): Promise<App> {
  const { busybox } = await baseImages()
  const directory = join(root, name)
  const commits: Commit[] = []
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b.c', ...args], directory)
  mkdirSync(join(directory, 'www'), { recursive: true })
  await git('init', '--quiet', '--initial-branch=main')

  async function commit(flavor: Flavor): Promise<Commit> {
    const page = `${name} v${commits.length + 1} ${flavor} ${nonce}`
    writeFileSync(join(directory, 'www/index.html'), page)
    writeFileSync(join(directory, 'www/healthz'), 'ok')
    writeFileSync(join(directory, 'Dockerfile'), dockerfile(busybox, flavor, chance))
    await git('add', '--all')
    await git('commit', '--quiet', '--message', page)
    const sha = (await git('rev-parse', 'HEAD')).trim()
    const made = { sha, page, flavor }
    commits.push(made)
    return made
  }
  return { name, directory, commits, commit, find: (sha) => commits.find((made) => made.sha === sha) }
}

function dockerfile(base: string, flavor: Flavor, chance: Chance): string {
  const seconds = (least: number, most: number) => chance.between(least, most).toFixed(2)
  const serve = [
    // Slow to end and slow to start, so that drains and checks take long enough to be met.
    `trap 'sleep ${seconds(0, 0.7)}; exit 0' TERM`,
    `sleep ${seconds(0, 0.7)}`,
    flavor === 'crashing' ? 'exit 3' : 'httpd -f -p $PORT -h /www & wait',
  ].join('; ')
  return [
    `FROM ${base}`,
    'COPY www /www',
    `RUN sleep ${seconds(0.5, 1.4)}`,
    ...(flavor === 'broken' ? ['RUN exit 1'] : []),
    `CMD ["sh", "-c", ${JSON.stringify(serve)}]`,
    '',
  ].join('\n')
}
