// The demo's git repository: the example app, commit by commit. Ignores the user's git configuration.
import { execFile } from 'node:child_process'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { copyApp } from '../support/daemon/apps.ts'

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

/** Creates an empty one on branch `main`. `node` is the base image of the app. */
export async function createDemoRepository(directory: string, node: string): Promise<DemoRepository> {
  const git = (...args: string[]) => runFile('git', args, { cwd: directory, env: gitEnv })
  await mkdir(directory)
  // A local path is deployed only if every user of the host can read it.
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
