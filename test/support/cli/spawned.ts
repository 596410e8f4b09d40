// The command line as a process of its own: for signals, exit codes, and files as its standard streams.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { programArgs } from '../daemon/program.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { type BerthOptions, berthEnv, type RunningBerth, untilShown } from './berth.ts'

export interface SpawnOptions extends BerthOptions {
  /** Leaves stdin open, so that a test can write to it. */
  keepsInput?: true
}

/** Arguments for Node that run the command line in any working directory. */
export const berthCommand = programArgs('src/cli/main')

/** Starts the command and leaves it running until the test ends. */
export function spawnBerth(
  t: Scope,
  args: string[],
  options: SpawnOptions = {},
): RunningBerth & { child: ChildProcess } {
  const child = spawn(process.execPath, [...berthCommand, ...args], {
    cwd: options.cwd ?? temporaryDirectory(t),
    env: berthEnv(t, options),
    stdio: 'pipe',
  })
  t.after(() => child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  child.stdin.on('error', () => {}).write(options.input ?? '')
  if (!options.keepsInput) child.stdin.end()
  const closed = once(child, 'close')
  return {
    child,
    get stdout() {
      return said.stdout
    },
    get stderr() {
      return said.stderr
    },
    interrupt: () => void child.kill('SIGINT'),
    async ended() {
      await closed
      return { code: child.exitCode, ...said }
    },
    shows: (text) => untilShown(text, `berth ${args.join(' ')}`, () => said.stdout + said.stderr),
  }
}
