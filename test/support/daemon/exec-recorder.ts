// Records which programs a process and its descendants start, with all arguments, by strace.
// strace slows the process down; `whyNoTracing` gives the reason where it is not available.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

interface Execution {
  /** The base name of the program. */
  program: string
  /** The arguments in strace's notation: quoted, with escapes. */
  written: string
}

interface ExecRecorder {
  /** Stops recording and returns the started programs. */
  stop(): Promise<Execution[]>
}

export async function recordExecutions(t: Scope, pid: number): Promise<ExecRecorder> {
  const directory = temporaryDirectory(t)
  // One file per process, so that lines are not interleaved.
  const output = ['-ff', '-o', join(directory, 'process'), '-s', '65536', '-e', 'trace=execve']
  const strace = spawn('strace', [...output, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => strace.kill('SIGKILL'))
  await attached(strace)
  return {
    async stop() {
      strace.kill('SIGINT')
      await once(strace, 'exit')
      const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
      return files.flatMap((text) => text.split('\n').flatMap(toExecution))
    },
  }
}

/** Drains the output, so that a full pipe does not block strace. */
function attached(strace: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    strace.stderr!.on('data', (words) => {
      if (String(words).includes(' attached')) resolve()
      else reject(new Error(`strace does not look: ${words}`))
    })
  })
}

/** Skips failed attempts, such as those along PATH. */
function toExecution(line: string): Execution[] {
  const [, program, written] = /^execve\("(?:[^"]*\/)?([^"/]+)", (\[.*\]), 0x\w+ .*\) = 0$/.exec(line) ?? []
  return program === undefined ? [] : [{ program, written: written! }]
}
