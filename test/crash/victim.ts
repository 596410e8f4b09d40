// The daemon that is killed repeatedly. Unlike those of other tests, it can be killed during startup.
// Its port changes with every start, so callers await `whenUp` before each request.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Api, createApi } from '../support/daemon/api.ts'
import { bare } from '../support/daemon/daemon.ts'
import { removeLeftovers } from '../support/daemon/leftovers.ts'
import { programArgs } from '../support/daemon/program.ts'
import { ensureEngine } from '../support/docker/engine.ts'

export interface Victim {
  readonly prefix: string
  /** Contains the data directory and the repositories of the load. */
  readonly directory: string
  readonly dataDir: string
  /** Its log across restarts, one JSON object per line. */
  readonly log: string[]
  /** The time of each start; the last one is the current. */
  readonly lives: Life[]
  /** Starts it and returns at once. */
  start(): void
  /** The API of the current process, or of the next one that comes up. */
  whenUp(): Promise<Api>
  /** Waits until /healthz responds with 200. */
  whenHealthy(): Promise<void>
  /** Sends SIGKILL at any stage. */
  kill(): Promise<void>
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>
  /** Kills it and removes everything it created; with `keepFiles` its files remain. */
  remove(options: { keepFiles: boolean }): Promise<void>
}

export interface Life {
  startedAt: number
  upAt: number | null
  healthyAt: number | null
  endedAt: number | null
}

export interface VictimOptions {
  args: string[]
  /** Called when it exits unprompted. */
  onDeath: (words: string) => void
}

const home = fileURLToPath(new URL('../..', import.meta.url))
const upTimeoutMs = 60_000

interface State {
  readonly dataDir: string
  readonly log: string[]
  readonly lives: Life[]
  child: ChildProcess | null
  api: Api | null
  /** Whether its end was requested. */
  isEnding: boolean
}

export async function openVictim({ args, onDeath }: VictimOptions): Promise<Victim> {
  const engine = await ensureEngine()
  const prefix = `berth-crash-${randomBytes(4).toString('hex')}`
  const directory = mkdtempSync(join(tmpdir(), `${prefix}-`))
  const dataDir = join(directory, 'data')
  const local = ['--local-repositories', directory]
  const own = [
    '--data-dir',
    dataDir,
    '--listen',
    '127.0.0.1:0',
    '--docker',
    engine,
    '--prefix',
    prefix,
    ...local,
  ]
  const state: State = { dataDir, log: [], lives: [], child: null, api: null, isEnding: false }
  return {
    prefix,
    directory,
    dataDir,
    log: state.log,
    lives: state.lives,
    start: () => begin(state, [...own, ...bare, ...args], onDeath),
    async whenUp() {
      await untilUp(state)
      return state.api!
    },
    whenHealthy: () => untilHealthy(state),
    kill: async () => void (await end(state, 'SIGKILL')),
    stop: () => end(state, 'SIGTERM'),
    async remove({ keepFiles }) {
      await end(state, 'SIGKILL')
      await removeLeftovers(prefix)
      if (keepFiles) writeFileSync(join(directory, 'daemon.log'), state.log.join('\n'))
      else rmSync(directory, { recursive: true, force: true })
    },
  }
}

function begin(state: State, args: string[], onDeath: VictimOptions['onDeath']): void {
  const life: Life = { startedAt: Date.now(), upAt: null, healthyAt: null, endedAt: null }
  state.isEnding = false
  state.lives.push(life)
  state.child = launch(args, (line) => {
    state.log.push(line)
    const up = /"url":"([^"]+)".*"msg":"berthd listens"/.exec(line)
    // Its last output may be read after its exit.
    if (!up || life.endedAt !== null) return
    life.upAt = Date.now()
    state.api = createApi(up[1]!, readFileSync(join(state.dataDir, 'api_token'), 'utf8').trim())
  })
  state.child.once('exit', (code, signal) => {
    state.api = null
    life.endedAt = Date.now()
    if (!state.isEnding) onDeath(`with ${signal ?? code}: ${state.log.slice(-5).join('\n')}`)
  })
}

async function end(state: State, signal: NodeJS.Signals): Promise<number | null> {
  const { child } = state
  if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
  state.isEnding = true
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
  return child.exitCode
}

async function untilUp(state: State): Promise<void> {
  for (const deadline = Date.now() + upTimeoutMs; state.api === null; await sleep(5)) {
    if (Date.now() > deadline) throw new Error(`the daemon was not up within ${upTimeoutMs / 1000} s`)
  }
}

async function untilHealthy(state: State): Promise<void> {
  await untilUp(state)
  const { url } = state.api!
  const life = state.lives.at(-1)!
  while ((await fetch(`${url}/healthz`)).status !== 200) await sleep(10)
  life.healthyAt = Date.now()
}

function launch(args: string[], hear: (line: string) => void): ChildProcess {
  const child = spawn(process.execPath, [...programArgs('src/main'), ...args], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, UWS_HTTP_MAX_HEADERS_SIZE: '16384' },
  })
  createInterface({ input: child.stderr! }).on('line', hear)
  return child
}
