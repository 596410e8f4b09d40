// The product and the benchmark's programs as JavaScript, as in production. A loader makes some code slower
// and startup much slower.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile, product } from '../support/daemon/compile.ts'

export interface Programs {
  /** Starts a file of the built tree, such as `src/main.js`, with piped stdout and stderr. */
  spawn(file: string, args: string[], nodeOptions?: string[]): ChildProcess
  /** The path of a file of the built tree. */
  pathOf(file: string): string
  remove(): void
}

const programs = 'test/bench/programs'

export async function buildPrograms(profileDirectory?: string): Promise<Programs> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-bench-built-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  try {
    await compile(directory, [...product, programs])
  } catch (error) {
    remove()
    throw error
  }
  const profiling = profileDirectory ? ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`] : []
  const env = { ...process.env, NODE_ENV: 'production', UWS_HTTP_MAX_HEADERS_SIZE: '16384' }
  const pathOf = (file: string) => join(directory, 'dist', file)
  return {
    pathOf,
    spawn: (file, args, nodeOptions = []) =>
      spawn(process.execPath, [...profiling, ...nodeOptions, pathOf(file), ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
      }),
    remove,
  }
}

/** Kills a process and waits until it has exited. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}
