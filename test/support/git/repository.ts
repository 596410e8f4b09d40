// A real git repository in a temporary folder, built commit by commit. Ignores the host's git configuration.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

export interface TestRepository {
  /** The path to clone from; its base name is the repository's name on a git server that serves `root`. */
  directory: string
  root: string
  name: string
  /** Writes the files (a `symlink` value becomes a link), commits everything and returns the commit id. */
  commit(message: string, files: Record<string, string | { symlink: string }>): string
  branch(name: string): void
  /** Checks out a branch or commit; the next commit follows it. */
  checkout(ref: string): void
  tag(name: string): void
  /** Adds a submodule without fetching it, and commits. */
  submodule(path: string, url: string, commit: string, settings?: Record<string, string>): string
  /** Runs git here and returns its output. */
  git(...args: string[]): string
}

export interface TestRepositoryOptions {
  /** The parent folder, for several repositories next to each other. */
  root?: string
  name?: string
  hash?: 'sha1' | 'sha256'
}

export function createRepository(t: Scope, options: TestRepositoryOptions = {}): TestRepository {
  const { root = temporaryDirectory(t), name = 'app', hash = 'sha1' } = options
  const directory = join(root, name)
  mkdirSync(directory)
  // A local path is deployed only if every user of the host can read it.
  chmodSync(root, 0o755)
  const git = (...args: string[]) => runTestGit(directory, args)
  git('init', '--quiet', '--initial-branch=main', '--template=', `--object-format=${hash}`)

  function commitAll(message: string): string {
    git('-c', 'maintenance.auto=false', 'commit', '--quiet', '--allow-empty', '--message', message)
    return git('rev-parse', 'HEAD')
  }

  return {
    directory,
    root,
    name,
    git,
    commit(message, files) {
      for (const [path, content] of Object.entries(files)) writeFile(join(directory, path), content)
      git('add', '--all')
      return commitAll(message)
    },
    branch: (name) => git('branch', name),
    checkout: (ref) => git('checkout', '--quiet', ref),
    tag: (name) => git('tag', name),
    submodule(path, url, commit, settings = {}) {
      for (const [key, value] of Object.entries({ path, url, ...settings })) {
        git('config', '--file', '.gitmodules', `submodule.${path}.${key}`, value)
      }
      git('add', '.gitmodules')
      git('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`)
      return commitAll(`Add ${path}`)
    },
  }
}

function writeFile(path: string, content: string | { symlink: string }): void {
  mkdirSync(dirname(path), { recursive: true })
  if (typeof content === 'string') writeFileSync(path, content)
  else symlinkSync(content.symlink, path)
}

export function runTestGit(cwd: string, args: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    // A fixed date gives the same history the same ids in every run.
    GIT_AUTHOR_DATE: '1700000000 +0000',
    GIT_COMMITTER_DATE: '1700000000 +0000',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  }
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}
