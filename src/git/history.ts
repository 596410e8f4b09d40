// Reads fetched objects. All of them are written by strangers, so each output has a limit. The only file that
// uses simple-git, and only for quick commands: it kills git without git's helper processes, so long
// operations use process.ts.
import { simpleGit } from 'simple-git'
import { Failure, messageOf } from '../errors.ts'
import { readingEnvironment } from './environment.ts'
import { GitError, runGit } from './process.ts'

export interface History {
  /** The full id of a commit in this repository, by its first digits or a ref; null if it does not exist. */
  find(commit: string): Promise<string | null | 'ambiguous'>
  /** The start of the message in UTF-8, with at most so many characters. */
  message(sha: string, length: number): Promise<string>
  /** Of a git configuration; empty without the file. Throws `source_invalid` if too large, and GitError. */
  settingsOf(sha: string, file: string): Promise<[key: string, value: string][]>
  /** The files that differ between two commits. Throws a GitError, also if they are too many. */
  changedPaths(from: string, to: string): Promise<string[]>
  /** The commits that a tree holds in place of folders (submodules), by their paths. */
  linkedCommits(sha: string, paths: string[]): Promise<Map<string, string>>
}

/** The largest .gitmodules known, of the Emacs packages (emacsmirror/epkgs), has 0.9 MB. */
const maxSettingsMib = 1
const maxSettings = 100_000
const maxChangedPaths = 50_000
const bytesPerMib = 1024 * 1024
/** git repeats the name of the section for each setting. */
const maxOutputMib = 4

export function openHistory(directory: string, marker: string, signal: AbortSignal): History {
  const env = { ...readingEnvironment(marker), GIT_LITERAL_PATHSPECS: '1' }
  // simple-git treats these variables as an attack; ours exclude the host's configuration.
  // By default simple-git takes what it has read 50 ms after git ended, which is nothing on a busy machine.
  const completion = { onClose: true, onExit: false }
  const guards = { allowEnvironment: Object.keys(env), unsafe: { allowUnsafeConfigPaths: true } }

  async function read(...args: string[]): Promise<string> {
    const limit = new AbortController()
    const abort = AbortSignal.any([signal, limit.signal])
    const git = simpleGit({ baseDir: directory, abort, completion, ...guards }).env(env)
    git.outputHandler((_, stdout) => {
      let sizeBytes = 0
      stdout.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length
        if (sizeBytes > maxOutputMib * bytesPerMib) limit.abort()
      })
    })
    try {
      return await git.raw(args)
    } catch (error) {
      signal.throwIfAborted()
      const isTooLong = limit.signal.aborted
      const lines = isTooLong
        ? [`its output is larger than ${maxOutputMib} MiB`]
        : messageOf(error).split('\n')
      throw new GitError(args[0] ?? '', lines)
    }
  }

  return {
    async find(commit) {
      try {
        return (await read('rev-parse', '--verify', `${commit}^{commit}`)).trim()
      } catch (error) {
        if (!(error instanceof GitError)) throw error
        const said = error.outputLines.join('\n')
        if (said.includes('is ambiguous')) return 'ambiguous'
        if (/single revision|unknown revision|bad revision/.test(said)) return null
        throw error
      }
    },
    async message(sha, length) {
      let message = ''
      const onOutput = (line: string) => {
        if (message.length < length) message += `${line.slice(0, length - message.length)}\n`
      }
      const run = { cwd: directory, env, mask: (text: string) => text, onLine() {}, signal, onOutput }
      await runGit(['log', '-1', '--encoding=UTF-8', '--format=%B', sha, '--'], run)
      return message.trimEnd()
    },
    async settingsOf(sha, file) {
      const entry = await read('ls-tree', '--long', '--full-tree', sha, '--', file)
      const [, sizeBytes] = /^100\d+ blob [0-9a-f]+ +(\d+)\t/.exec(entry) ?? []
      if (sizeBytes === undefined) return []
      if (Number(sizeBytes) > maxSettingsMib * bytesPerMib)
        throw new Failure('source_invalid', `${file} is larger than ${maxSettingsMib} MiB`)
      const output = await read('config', '--blob', `${sha}:${file}`, '--no-includes', '--null', '--list')
      const entries = output.split('\0', maxSettings + 1)
      if (entries.length > maxSettings)
        throw new Failure('source_invalid', `${file} has more than ${maxSettings} settings`)
      return entries.flatMap((entry) => toSetting(entry))
    },
    async changedPaths(from, to) {
      const output = await read('diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to, '--')
      const paths = output.split('\0', maxChangedPaths + 1)
      if (paths.length > maxChangedPaths) throw new GitError('diff-tree', ['there are too many paths'])
      return paths.filter((path) => path !== '')
    },
    async linkedCommits(sha, paths) {
      if (paths.length === 0) return new Map()
      const output = await read('ls-tree', '-z', '--full-tree', sha, '--', ...paths)
      const links = output.split('\0').map((entry) => /^160000 commit ([0-9a-f]+)\t(.*)$/s.exec(entry))
      return new Map(links.flatMap((link) => (link ? [[link[2]!, link[1]!]] : [])))
    },
  }
}

function toSetting(entry: string): [string, string][] {
  const end = entry.indexOf('\n')
  return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)]]
}
