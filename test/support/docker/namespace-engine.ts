// The Docker engine of a namespace (namespace.ts), with the images it was given.
// An orderly stop stops its containers first; a kill leaves them running.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { commandEnv } from '../system/command.ts'
import { pingEngine } from './engine.ts'

export interface NamespaceEngine {
  /** The socket of dockerd. */
  path: string
  address: string
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
  /** Stops responding without losing anything. */
  pause(): void
  resume(): void
}

const startMs = 60_000
/** Removed before a start: a new dockerd would wait for its killed, unreaped predecessor. */
const pidFiles = ['docker.pid', 'exec/containerd/containerd.pid']

/** Starts an engine that stores everything in the directory; `more` are options of dockerd. */
export async function startNamespaceEngine(directory: string, more: string[] = []): Promise<NamespaceEngine> {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'docker.sock')
  const address = `unix://${path}`
  const log = join(directory, 'dockerd.log')
  const places = { 'data-root': 'data', 'exec-root': 'exec', pidfile: 'docker.pid' }
  const options = Object.entries(places).map(([option, name]) => `--${option}=${join(directory, name)}`)
  let running: ChildProcess | null = null

  async function start(): Promise<void> {
    for (const name of pidFiles) rmSync(join(directory, name), { force: true })
    const output = openSync(log, 'a')
    running = spawn('dockerd', [`--host=${address}`, ...options, ...more], {
      stdio: ['ignore', output, output],
      env: commandEnv,
    })
    const deadline = performance.now() + startMs
    while ((await pingEngine(address)) !== null) {
      const isLate = performance.now() > deadline
      if (running.exitCode !== null || isLate) throw new Error(readFileSync(log, 'utf8').slice(-2000))
      await delay(50)
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = running
    running = null
    if (ended?.kill(signal)) await once(ended, 'exit')
  }

  await start()
  return {
    path,
    address,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void running?.kill('SIGSTOP'),
    resume: () => void running?.kill('SIGCONT'),
  }
}

/** Exports an image of the engine at that address to a file. */
export async function saveImage(address: string, name: string, path: string): Promise<void> {
  const engine = openEngine(address)
  await pipeline(await engine.docker.getImage(name).get(), createWriteStream(path))
  engine.close()
}

export async function loadImage(address: string, path: string): Promise<void> {
  const engine = openEngine(address)
  await text(await engine.docker.loadImage(path))
  engine.close()
}
