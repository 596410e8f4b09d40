// An app in a git repository: each version is a commit on main.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeTree } from '../support/archive/write-tree.ts'
import { run } from '../support/system/command.ts'
import { type App, type Flavor, nextVersion, renderFiles, type Version } from './app.ts'
import type { Chance } from './random.ts'

export async function createGitApp(root: string, name: string, nonce: string, chance: Chance): Promise<App> {
  const directory = join(root, name)
  const versions: Version[] = []
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b.c', ...args], { cwd: directory })
  mkdirSync(directory, { recursive: true })
  await git('init', '--quiet', '--initial-branch=main')

  async function release(flavor: Flavor): Promise<Version> {
    const version = nextVersion({ name, versions }, flavor, nonce)
    writeTree(directory, await renderFiles(version, chance))
    await git('add', '--all')
    await git('commit', '--quiet', '--message', version.page)
    const built = { ...version, sha: (await git('rev-parse', 'HEAD')).trim() }
    versions.push(built)
    return built
  }

  return {
    kind: 'git',
    name,
    settings: { repo_url: directory, branch: 'main' },
    versions,
    release,
    versionOf: ({ commit_sha }) => versions.find(({ sha }) => sha === commit_sha),
  }
}
