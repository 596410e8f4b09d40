// One run of git in its own process group: its helpers outlive it, so the whole group is killed.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { Failure } from '../errors.ts'
import { dropOomProtection, killGroup } from '../process-groups.ts'
import type { Mask } from './credentials.ts'
import type { Environment } from './environment.ts'

export interface GitRun {
  cwd: string
  /** The complete environment: nothing is inherited (see environment.ts). */
  env: Environment
  mask: Mask
  onLine(line: string): void
  signal: AbortSignal
  /** Gets each line of standard output as it comes. Without it, runGit resolves with the whole output. */
  onOutput?(line: string): void
}

type GitProcess = ChildProcessByStdio<null, Readable, Readable>

/** git ran and failed; `outputLines` is its masked output without progress lines. */
export class GitError extends Error {
  readonly code = 'git_failed'
  readonly outputLines: string[]

  constructor(command: string, outputLines: string[]) {
    super(`git ${command} failed: ${outputLines.at(-1) ?? 'no output'}`)
    this.name = 'GitError'
    this.outputLines = outputLines
  }
}

/** Above it, git is ended with a GitError. The largest known output, the refs of NixOS/nixpkgs, has 30 MB. */
const maxOutputMib = 64
const bytesPerMib = 1024 * 1024

export function runGit(args: string[], run: GitRun): Promise<string> {
  return runProgram('git', args, run)
}

/** Rejects with a GitError, or when aborted once no process of the group is left that could still write. */
export async function runProgram(program: string, args: string[], run: GitRun): Promise<string> {
  run.signal.throwIfAborted()
  const child = spawn(program, args, {
    cwd: run.cwd,
    // git must look for a repository only in its own folder.
    env: { ...run.env, GIT_CEILING_DIRECTORIES: dirname(run.cwd) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  dropOomProtection(child)
  const kill = () => killGroup(child)
  run.signal.addEventListener('abort', kill, { once: true })
  const progress = createProgress((line) => run.onLine(run.mask(line)))
  try {
    const { output, exitCode, isTooLong } = await finish(child, progress, run, kill)
    run.signal.throwIfAborted()
    if (isTooLong) throw new GitError(args[0] ?? '', [`its output is larger than ${maxOutputMib} MiB`])
    if (exitCode !== 0) throw new GitError(args[0] ?? '', progress.outputLines().map(run.mask))
    return output
  } finally {
    run.signal.removeEventListener('abort', kill)
  }
}

async function finish(child: GitProcess, progress: Progress, run: GitRun, kill: () => void) {
  let output = ''
  let sizeBytes = 0
  const take = run.onOutput ? createSplitter(run.onOutput) : (text: string) => (output += text)
  const isTooLong = () => sizeBytes > maxOutputMib * bytesPerMib
  // 'close' and not 'exit': it waits for every descendant that holds the pipes.
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', (error) =>
      reject(new Failure('internal_error', `git could not be started: ${error.message}`)),
    )
  })
  const [exitCode] = await Promise.all([
    closed,
    readPieces(child.stdout, (text) => {
      sizeBytes += Buffer.byteLength(text)
      if (isTooLong()) kill()
      else take(text)
    }),
    readPieces(child.stderr, progress.write),
  ])
  progress.end()
  return { output, exitCode, isTooLong: isTooLong() }
}

/** One piece in each turn of the event loop, however fast git writes. */
async function readPieces(stream: Readable, take: (text: string) => void): Promise<void> {
  try {
    for await (const text of stream.setEncoding('utf8')) {
      take(text)
      await setImmediate()
    }
  } catch {
    // The process could not be started, which `closed` reports.
  }
}

function createSplitter(onOutput: (line: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    rest += text
    // Without this, a line in many pieces would be searched again for each of them.
    if (!text.includes('\n')) return
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onOutput)
  }
}

// git's standard error as readable lines. git rewrites a progress line with carriage returns: its end is
// shown, and one state every few seconds, so that a long transfer does not look stuck.

const liveEveryMs = 5_000
const maxLineLength = 16_384
const interesting = /^(remote: +\S|warning: |Receiving |Resolving |Unpacking |Updating )/

interface Progress {
  write(text: string): void
  /** Flushes the rest of the stream as a line. */
  end(): void
  /** The last lines that are not progress, for the reason of a failure. */
  outputLines(): string[]
}

export function createProgress(onLine: (line: string) => void): Progress {
  const lines: string[] = []
  let rest = ''
  let shownAt = performance.now()

  function take(text: string, isRewritten: boolean): void {
    const line = clean(text)
    if (line === '') return
    if (!isRewritten && !/: +\d+% \(/.test(line)) lines.push(line)
    if (lines.length > 50) lines.shift()
    if (!interesting.test(line) || (isRewritten && performance.now() - shownAt < liveEveryMs)) return
    shownAt = performance.now()
    onLine(line)
  }

  return {
    write(text) {
      // ssh ends its lines with CR LF.
      const parts = (rest + text).split(/(\r?\n|\r(?=[^\n]))/)
      rest = parts.pop() ?? ''
      for (let at = 0; at < parts.length; at += 2) take(parts[at]!, parts[at + 1] === '\r')
      if (rest.length > maxLineLength) this.end()
    },
    end() {
      take(rest, false)
      rest = ''
    },
    outputLines: () => lines,
  }
}

/** A remote may send anything here, including terminal control sequences. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').trimEnd()
}
