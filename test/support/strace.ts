// Faults of the disk, put into the system calls of a running process by strace.
// `when` counts in each thread by itself, and the store writes from several.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { hasApt, isRoot } from '../../src/base-images/apt.ts'
import { commandEnv, hasCommand, run } from '../../src/base-images/command.ts'
import { installPackages } from './apt.ts'
import { type Scope, temporaryDirectory } from './directory.ts'

export interface Trace {
  /** The calls so far, as strace shows them. */
  calls(): string[]
  /** Those of them that were hit by the fault. */
  hits(): string[]
  /** The process goes on by itself. */
  end(): Promise<void>
}

/** Why no process can be traced here; null when one can. Installs strace where that is possible. */
export async function whyNoTracing(): Promise<string | null> {
  if (!hasCommand('strace') && hasApt() && isRoot()) await installPackages(['strace'])
  if (!hasCommand('strace')) return 'needs strace: sudo apt-get install strace'
  const trial = run('strace', ['-o', '/dev/null', 'true'])
  return trial.then(
    () => null,
    (error: Error) => `processes cannot be traced here: ${error.message}`,
  )
}

/**
 * From when this resolves the calls of that name that touch `path` are seen, and fail as `fault` says in
 * strace's words, such as `error=ENOSPC`.
 */
export async function traceCalls(
  t: Scope,
  { pid, path, call, fault }: { pid: number; path: string; call: string; fault?: string },
): Promise<Trace> {
  const output = join(temporaryDirectory(t), 'calls')
  const inject = fault === undefined ? [] : ['-e', `inject=${call}:${fault}`]
  const args = ['-f', '-p', String(pid), '-P', path, '-e', `trace=${call}`, ...inject, '-o', output]
  const strace = spawn('strace', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: commandEnv,
  })
  const end = async () => {
    // At once: in a call that is delayed it would wait for its end.
    if (strace.exitCode === null && strace.kill('SIGKILL')) await once(strace, 'exit')
  }
  t.after(end)
  await untilAttached(strace)
  const calls = () => (existsSync(output) ? readFileSync(output, 'utf8').split('\n') : [])
  const isHit = (line: string) => /\((INJECTED|DELAYED)\)$/.test(line)
  return { end, calls, hits: () => calls().filter(isHit) }
}

async function untilAttached(strace: ChildProcess): Promise<void> {
  const words: string[] = []
  for await (const line of createInterface(strace.stderr!)) {
    if (/attached/.test(line)) return
    words.push(line)
  }
  throw new Error(`strace ended: ${words.join('\n')}`)
}
