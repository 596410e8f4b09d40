// The product and the bench's programs as JavaScript, as they run in production: what runs from source
// through a loader is slower in places, and its start is not the product's.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile, product } from '../support/compile.ts'

export interface Programs {
  /** Starts a file of the built tree, such as `src/main.js`; its standard output and error are pipes. */
  spawn(file: string, args: string[], nodeOptions?: string[]): ChildProcess
  /** Where a file of the built tree is. */
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

/** Ends a process and waits until it is gone. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}
