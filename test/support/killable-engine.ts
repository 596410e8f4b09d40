// A Docker engine of a test's own, which it may kill. It lives in namespaces of its own: in the machine's it
// would take the network away from the other one, and leave mounts behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { commandEnv, hasCommand } from '../../src/base-images/command.ts'
import { type Engine, openEngine } from '../../src/docker/engine/client.ts'
import { temporaryDirectory } from './directory.ts'
import { until } from './docker-site.ts'
import { ensureEngine, pingEngine } from './engine.ts'
import { baseImages } from './images.ts'

export interface KillableEngine {
  engine: Engine
  /** As a crash does it: at once, and what it started may go on. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** Why there cannot be one here; false when there can. */
export const whyNoKillableEngine =
  process.getuid?.() === 0 && hasCommand('dockerd') ? false : 'needs root and a dockerd on this machine'

const startMs = 60_000
const pidFiles = ['docker.pid', 'exec/containerd/containerd.pid']

/** Has the busybox base image; gone after the test, with what it runs. `more` are options of dockerd. */
export async function startKillableEngine(t: TestContext, more: string[] = []): Promise<KillableEngine> {
  let running: ChildProcess | null = null
  t.after(async () => {
    // What a killed one left is ended by the next one.
    if (running === null) await start()
    // An engine that is told to end does not wait for the shims of its containers.
    await until('its containers to be removed', () => removeContainers(engine))
    await end('SIGTERM')
    engine.close()
  })
  const directory = temporaryDirectory(t)
  const address = `unix://${join(directory, 'docker.sock')}`
  const engine = openEngine(address)

  async function start(): Promise<void> {
    // A new one would wait for the dead, for as long as nobody has buried them.
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

/** Whether none is left. The engine refuses to remove a container whose process ends just then. */
async function removeContainers({ docker }: Engine): Promise<boolean> {
  const found = await docker.listContainers({ all: true })
  await Promise.allSettled(found.map(({ Id }) => docker.getContainer(Id).remove({ force: true })))
  return found.length === 0
}

function options(directory: string, address: string): string[] {
  const paths = { 'data-root': 'data', 'exec-root': 'exec', pidfile: 'docker.pid' }
  const own = Object.entries(paths).map(([option, name]) => `--${option}=${join(directory, name)}`)
  return [`--host=${address}`, ...own]
}

async function untilItAnswers(dockerd: ChildProcess, address: string): Promise<void> {
  const deadline = performance.now() + startMs
  while ((await pingEngine(address)) !== null) {
    if (dockerd.exitCode !== null) throw new Error(`dockerd ended with code ${dockerd.exitCode}`)
    if (performance.now() > deadline) throw new Error(`dockerd did not answer within ${startMs} ms`)
    await delay(50)
  }
}

async function copyBase(target: Engine): Promise<void> {
  const source = openEngine(await ensureEngine())
  const { busybox } = await baseImages()
  const answer = await target.docker.loadImage(await source.docker.getImage(busybox).get())
  for await (const _ of answer) {
    // Only its end matters.
  }
  source.close()
}
