// The command line as users run it: a separate process with piped output and its own configuration.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestDaemon } from '../daemon/daemon.ts'
import { programArgs } from '../daemon/program.ts'
import { until } from '../daemon/service.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

export interface BerthOptions {
  /** The server; by default the one of the configuration. */
  daemon?: Pick<TestDaemon, 'api' | 'dataDir'>
  /** The working directory; an empty one by default. */
  cwd?: string
  env?: Record<string, string>
  /** The content of stdin. */
  input?: string
  /** Leaves stdin open, so that a test can write to it. */
  keepsInput?: true
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunningBerth {
  readonly child: ChildProcess
  readonly stdout: string
  readonly stderr: string
  ended(): Promise<Ended>
  /** Waits until stdout or stderr contains this text. */
  shows(text: string | RegExp): Promise<void>
}

/** Arguments for Node that run the command line in any working directory. */
export const berthCommand = programArgs('src/cli/main')

/** The environment of a user whose only configuration is this server. */
export function berthEnv(t: Scope, { daemon, env = {} }: BerthOptions): NodeJS.ProcessEnv {
  const folder = temporaryDirectory(t)
  const server = daemon && {
    BERTH_SERVER: daemon.api.url,
    BERTH_TOKEN: readFileSync(join(daemon.dataDir, 'api_token'), 'utf8').trim(),
  }
  const { NO_COLOR, FORCE_COLOR, BERTH_SERVER, BERTH_TOKEN, ...outer } = process.env
  const places = ['CONFIG', 'STATE', 'CACHE'].map((kind) => [`XDG_${kind}_HOME`, join(folder, kind)])
  return { ...outer, ...Object.fromEntries(places), HOME: folder, ...server, ...env }
}

/** Starts the command and leaves it running until the test ends. */
export function startBerth(t: Scope, args: string[], options: BerthOptions = {}): RunningBerth {
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
    async ended() {
      await closed
      return { code: child.exitCode, ...said }
    },
    async shows(text) {
      const fits = () => (typeof text === 'string' ? all().includes(text) : text.test(all()))
      const all = () => said.stdout + said.stderr
      await until(`${text} from berth ${args.join(' ')}`, async () => fits())
    },
  }
}

export function runBerth(t: Scope, args: string[], options: BerthOptions = {}): Promise<Ended> {
  return startBerth(t, args, options).ended()
}
