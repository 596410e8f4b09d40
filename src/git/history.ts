// Reads fetched objects. The only file that uses simple-git, and only for quick commands: it kills git
// without git's helper processes, so long operations use process.ts.
import { simpleGit } from 'simple-git'
import { messageOf } from '../errors.ts'
import { readingEnvironment } from './environment.ts'

export interface History {
  /** The full id of a commit in this repository, by its first digits or a ref; null if it does not exist. */
  find(commit: string): Promise<string | null | 'ambiguous'>
  /** The full message in UTF-8, without trailing whitespace. */
  message(sha: string): Promise<string>
  /** The settings in a file with the syntax of a git configuration; empty if the file does not exist. */
  settingsOf(sha: string, file: string): Promise<[key: string, value: string][]>
  /** The commit that a tree holds at this path in place of a folder (a submodule), or null. */
  linkedCommit(sha: string, path: string): Promise<string | null>
}

export function openHistory(directory: string, marker: string): History {
  const env = readingEnvironment(marker)
  // simple-git treats these variables as an attack; ours exclude the host's configuration.
  const guards = { allowEnvironment: Object.keys(env), unsafe: { allowUnsafeConfigPaths: true } }
  const git = simpleGit({ baseDir: directory, ...guards }).env(env)

  return {
    async find(commit) {
      try {
        return (await git.raw('rev-parse', '--verify', `${commit}^{commit}`)).trim()
      } catch (error) {
        const said = messageOf(error)
        if (said.includes('is ambiguous')) return 'ambiguous'
        if (/single revision|unknown revision|bad revision/.test(said)) return null
        throw error
      }
    },
    async message(sha) {
      return (await git.raw('log', '-1', '--encoding=UTF-8', '--format=%B', sha, '--')).trimEnd()
    },
    async settingsOf(sha, file) {
      const exists = (await git.raw('ls-tree', '--full-tree', sha, '--', file)).startsWith('100')
      if (!exists) return []
      const output = await git.raw('config', '--blob', `${sha}:${file}`, '--no-includes', '--null', '--list')
      return output.split('\0').flatMap((entry) => toSetting(entry))
    },
    async linkedCommit(sha, path) {
      const entry = await git.raw('ls-tree', '-z', '--full-tree', sha, '--', path)
      const [, commit, name] = /^160000 commit ([0-9a-f]+)\t([^\0]*)\0$/.exec(entry) ?? []
      return commit !== undefined && name === path ? commit : null
    },
  }
}

function toSetting(entry: string): [string, string][] {
  const end = entry.indexOf('\n')
  return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)]]
}
