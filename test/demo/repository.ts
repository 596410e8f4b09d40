// The demo's git repository: the example app, commit by commit. The user's git configuration, or its absence,
// plays no part.
import { execFile } from 'node:child_process'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { copyApp } from '../support/apps.ts'

export interface DemoRepository {
  directory: string
  /** Writes this version of the app and commits it. */
  commit(version: string, message: string): Promise<void>
}

const runFile = promisify(execFile)

const gitEnv = {
  PATH: process.env.PATH,
  HOME: '/dev/null',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

/** Makes an empty one, on branch `main`. `node` is the image that the app builds on. */
export async function createDemoRepository(directory: string, node: string): Promise<DemoRepository> {
  const git = (...args: string[]) => runFile('git', args, { cwd: directory, env: gitEnv })
  await mkdir(directory)
  // A path is deployed only when every user of the host may read it.
  await chmod(dirname(directory), 0o755)
  await git('init', '--quiet', '--template=', '--initial-branch=main')
  return {
    directory,
    async commit(version, message) {
      await copyApp('hello', directory, { node, version })
      await git('add', '--all')
      await git('commit', '--quiet', '--message', message)
    },
  }
}
