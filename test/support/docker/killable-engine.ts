// A Docker engine that a test may kill. It has its own namespaces: in the machine's, it would disrupt the
// other engine's network and leave mounts behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { commandEnv, hasCommand } from '../system/command.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { until } from './docker-site.ts'
import { ensureEngine, pingEngine } from './engine.ts'
import { baseImages } from './images.ts'

export interface KillableEngine {
  engine: Engine
  /** Kills it like a crash; containers it started may continue. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** Why no such engine can be started here; false if it can. */
export const whyNoKillableEngine =
  process.getuid?.() === 0 && hasCommand('dockerd') ? false : 'needs root and a dockerd on this machine'

const startMs = 60_000
const pidFiles = ['docker.pid', 'exec/containerd/containerd.pid']

/** Has the busybox base image. Removed after the test with its containers; `more` are options of dockerd. */
export async function startKillableEngine(t: TestContext, more: string[] = []): Promise<KillableEngine> {
  let running: ChildProcess | null = null
  t.after(async () => {
    // The next dockerd ends what a killed one left running.
    if (running === null) await start()
    // dockerd does not wait for the shims of its containers on shutdown.
    await until('its containers to be removed', () => removeContainers(engine))
    await end('SIGTERM')
    engine.close()
  })
  const directory = temporaryDirectory(t)
  const address = `unix://${join(directory, 'docker.sock')}`
  const engine = openEngine(address)

  async function start(): Promise<void> {
    // Otherwise the new dockerd would wait for its killed, unreaped predecessor.
    for (const name of pidFiles) rmSync(join(directory, name), { force: true })
    running = spawn('unshare', ['--net', '--mount', 'dockerd', ...options(directory, address), ...more], {
      stdio: 'ignore',
      env: commandEnv,
    })
    await untilItAnswers(running, address)
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (running?.kill(signal)) await once(running, 'exit')
    running = null
  }

  await start()
  await copyBase(engine)
  return { engine, start, kill: () => end('SIGKILL') }
}

/** Returns whether none is left. The engine refuses to remove a container whose process is just ending. */
async function removeContainers({ docker }: Engine): Promise<boolean> {
  const containers = await docker.listContainers({ all: true })
  await Promise.allSettled(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true })))
  return containers.length === 0
}

function options(directory: string, address: string): string[] {
  const paths = { 'data-root': 'data', 'exec-root': 'exec', pidfile: 'docker.pid' }
  const pathOptions = Object.entries(paths).map(([option, name]) => `--${option}=${join(directory, name)}`)
  return [`--host=${address}`, ...pathOptions]
}

async function untilItAnswers(dockerd: ChildProcess, address: string): Promise<void> {
  const deadline = performance.now() + startMs
  while ((await pingEngine(address)) !== null) {
    if (dockerd.exitCode !== null) throw new Error(`dockerd ended with code ${dockerd.exitCode}`)
    if (performance.now() > deadline) throw new Error(`dockerd did not respond within ${startMs / 1000} s`)
    await delay(50)
  }
}

async function copyBase(target: Engine): Promise<void> {
  const source = openEngine(await ensureEngine())
  const { busybox } = await baseImages()
  const response = await target.docker.loadImage(await source.docker.getImage(busybox).get())
  for await (const _ of response) {
    // Only the end of the stream matters.
  }
  source.close()
}
