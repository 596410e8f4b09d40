// Which programs a process and all its descendants start, with every argument, as the kernel is told it.
// By strace, which slows the process down while it looks; `whyNoTracing` says where there is none.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Scope, temporaryDirectory } from './directory.ts'

export interface Execution {
  /** The name of the program's file. */
  program: string
  /** The arguments as strace writes them: quoted, with escapes. */
  written: string
}

export interface ExecRecorder {
  /** Stops looking and tells what was started. */
  stop(): Promise<Execution[]>
}

export async function recordExecutions(t: Scope, pid: number): Promise<ExecRecorder> {
  const directory = temporaryDirectory(t)
  // A file for each process: no line is torn by another's.
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

/** Its words are read to the end: nobody stops it by not listening. */
function attached(strace: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    strace.stderr!.on('data', (words) => {
      if (String(words).includes(' attached')) resolve()
      else reject(new Error(`strace does not look: ${words}`))
    })
  })
}

/** What could not be started, as on the way along PATH, is left out. */
function toExecution(line: string): Execution[] {
  const [, program, written] = /^execve\("(?:[^"]*\/)?([^"/]+)", (\[.*\]), 0x\w+ .*\) = 0$/.exec(line) ?? []
  return program === undefined ? [] : [{ program, written: written! }]
}
