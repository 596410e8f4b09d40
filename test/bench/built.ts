// The product and the bench's programs as JavaScript, as they run in production: what runs from source
// through a loader is slower in places, and its start is not the product's.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../src/base-images/command.ts'

export interface Programs {
  /** Starts a file of the built tree, such as `src/main.js`; its standard output and error are pipes. */
  spawn(file: string, args: string[], nodeOptions?: string[]): ChildProcess
  /** Where a file of the built tree is. */
  pathOf(file: string): string
  remove(): void
}

const home = fileURLToPath(new URL('../..', import.meta.url))
const compiled = ['src', 'machines', 'storage', 'test/bench/programs']

export async function buildPrograms(profileDirectory?: string): Promise<Programs> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-bench-built-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  try {
    await compile(directory)
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

/**
 * Into `<directory>/dist`, beside what the built code looks for. Types are the business of `npm run check`.
 */
async function compile(directory: string): Promise<void> {
  const config = {
    extends: join(home, 'tsconfig.build.json'),
    compilerOptions: { outDir: join(directory, 'dist'), rootDir: home, noCheck: true },
    include: compiled.map((folder) => join(home, folder)),
  }
  symlinkSync(join(home, 'node_modules'), join(directory, 'node_modules'))
  copyFileSync(join(home, 'package.json'), join(directory, 'package.json'))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  await run(process.execPath, [join(home, 'node_modules/typescript/bin/tsc'), '-p', directory])
}

/** Ends a process and waits until it is gone. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}
