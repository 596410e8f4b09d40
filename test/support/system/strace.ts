// Injects disk faults into the system calls of a running process by strace.
// `when` counts calls per thread, and the store writes from several threads.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { hasApt, installPackages, isRoot } from './apt.ts'
import { commandEnv, hasCommand, run } from './command.ts'
import { type Scope, temporaryDirectory } from './directory.ts'

export interface Trace {
  /** All matching calls so far, in strace's notation. */
  calls(): string[]
  /** The calls that failed because of the fault. */
  hits(): string[]
  /** Detaches; the process continues. */
  end(): Promise<void>
}

/** Why no process can be traced here, or null. Installs strace where possible. */
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
 * Resolves when calls of that name on `path` are traced and fail with `fault`, in strace's notation,
 * such as `error=ENOSPC`.
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
    // SIGKILL: strace would finish a delayed call before it exits on other signals.
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
