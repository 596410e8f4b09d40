// A real daemon in a separate process, with its own data directory and Docker prefix.
// `kill` sends SIGKILL, like a crash; `remove` deletes exactly the objects with that prefix.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ensureEngine } from '../docker/engine.ts'
import { ensureFirewall } from '../system/firewall.ts'
import { type Api, createApi } from './api.ts'
import { removeLeftovers } from './leftovers.ts'
import { programArgs } from './program.ts'

export interface TestDaemon {
  readonly api: Api
  readonly dataDir: string
  readonly prefix: string
  readonly pid: number
  /** Its log across restarts, one JSON object per line. */
  readonly log: string[]
  /** Its standard output across restarts, line by line. */
  readonly printed: string[]
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Resolves with the exit code or the signal when the daemon exits unprompted. */
  ended(): Promise<number | string>
  /** Starts it again with the same data directory. */
  start(): Promise<void>
  /** Stops it and removes everything it created. */
  remove(): Promise<void>
}

export interface DaemonOptions {
  /** Further command line options, such as `--build-concurrency=1`. */
  args?: string[]
  env?: Record<string, string>
  /** A temporary folder by default. */
  dataDir?: string
}

/** No edge and no settle time, for tests that need neither. Later options win. */
export const bare = ['--edge=off', '--settle-time=0']

const home = fileURLToPath(new URL('../../..', import.meta.url))

function standardArgs(engine: string, { dataDir, prefix }: { dataDir: string; prefix: string }): string[] {
  const serverArgs = [
    '--data-dir',
    dataDir,
    '--listen',
    '127.0.0.1:0',
    '--docker',
    engine,
    '--prefix',
    prefix,
  ]
  return [...serverArgs, '--min-free-disk=16', '--local-git-host=127.0.0.1,localhost', ...bare]
}

/** Starts a daemon and waits until it responds. */
export async function launchDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  const engine = await ensureEngine()
  await ensureFirewall()
  const prefix = `berth-${randomBytes(4).toString('hex')}`
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), `${prefix}-`))
  const args = [...standardArgs(engine, { dataDir, prefix }), ...(options.args ?? [])]
  const said: Said = { log: [], printed: [] }
  let child: ChildProcess
  let api: Api | null = null
  const start = async () => {
    const started = spawnDaemon(args, options.env ?? {}, said)
    child = started.child
    const url = await started.listening
    if (child === started.child) api = createApi(url, readFileSync(join(dataDir, 'api_token'), 'utf8').trim())
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return child.exitCode
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
    return child.exitCode
  }
  const daemon: TestDaemon = {
    dataDir,
    prefix,
    ...said,
    get api() {
      return api!
    },
    get pid() {
      return child.pid!
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    async ended() {
      if (!hasEnded()) await once(child, 'exit')
      return child.exitCode ?? child.signalCode!
    },
    start,
    async remove() {
      await end('SIGKILL')
      await removeLeftovers(prefix)
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  await start().catch(async (error: unknown) => {
    await daemon.remove()
    throw error
  })
  return daemon
}

/** A daemon that is removed after the test, with everything it created. */
export async function startDaemon(t: TestContext, options: DaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await launchDaemon(options)
  t.after(() => daemon.remove())
  return daemon
}

type Said = Pick<TestDaemon, 'log' | 'printed'>

/** `listening` resolves with its URL when it logs that it is up; it rejects if the process ends before. */
function spawnDaemon(args: string[], env: Record<string, string>, { log, printed }: Said) {
  const child = spawn(process.execPath, [...programArgs('src/main'), ...args], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, UWS_HTTP_MAX_HEADERS_SIZE: '16384', ...env },
  })
  createInterface({ input: child.stdout }).on('line', (line) => printed.push(line))
  const first = log.length
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line)
      const up = /"url":"([^"]+)".*"msg":"berthd listens"/.exec(line)
      if (up) resolve(up[1]!)
    })
    child.once('exit', (code) =>
      reject(new Error(`berthd ended with ${code}: ${log.slice(first).join('\n')}`)),
    )
  })
  return { child, listening }
}
