// What is done to the daemon, to Docker and to the edge. Each ends before it resolves, and says what it was.
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import type { Drill } from '../crash/drill.ts'
import type { Chance } from '../crash/random.ts'
import { findEdge } from '../support/edge/edge-chaos.ts'
import type { Sites } from './sites.ts'
import { edge } from './sites.ts'

/** Shorter than the limit on a response of the daemon. */
const longestHangMs = 8000
const longestAwayMs = 6000

interface Stage {
  drill: Drill
  part: Sites
  chance: Chance
}

type Fault = (stage: Stage) => Promise<void>

export const daemonFaults = {
  async 'daemon hangs'({ drill: { victim }, chance }) {
    await victim.whenUp()
    victim.pause()
    await sleep(chance.between(500, longestHangMs))
    victim.resume()
  },
  async 'daemon stops'({ drill: { victim, ledger } }) {
    await victim.whenUp()
    const code = await victim.stop()
    if (code !== 0) ledger.addViolation('the daemon stops on SIGTERM', `it exited with code ${code}`)
    victim.start()
  },
} satisfies Record<string, Fault>

export const otherFaults = {
  'Docker stops': (stage) =>
    disturbEngine(
      stage,
      (engine) => engine.stop(),
      (engine) => engine.start(),
    ),
  'Docker is killed': (stage) =>
    disturbEngine(
      stage,
      (engine) => engine.kill(),
      (engine) => engine.start(),
    ),
  'Docker hangs': (stage) =>
    disturbEngine(
      stage,
      async (engine) => engine.pause(),
      async (engine) => engine.resume(),
    ),
  'the worker of HAProxy is killed': (stage) =>
    disturbEdge(stage, async (site) => {
      const { master, workers } = site.processes()
      await end(workers.slice(0, 1))
      // It ends with the first worker that dies, and may take a second for that.
      if (workers.length > 0) await gone([master])
    }),
  'HAProxy is killed': (stage) => disturbEdge(stage, (site) => end([site.processes().master])),
  'HAProxy hangs': (stage) =>
    disturbEdge(stage, async (site) => {
      const { master, workers } = site.processes()
      kill([master, ...workers], 'SIGSTOP')
      await sleep(stage.chance.between(500, longestHangMs))
      kill([master, ...workers], 'SIGCONT')
    }),
  'the container of the edge is killed': (stage) => disturbEdge(stage, (site) => site.container.kill()),
  'the container of the edge is removed': (stage) =>
    disturbEdge(stage, (site) => site.container.remove({ force: true })),
} satisfies Record<string, Fault>

export type FaultName = 'daemon is killed' | keyof typeof daemonFaults | keyof typeof otherFaults

type Engine = NonNullable<Drill['engine']>

async function disturbEngine(
  { drill, part, chance }: Stage,
  begin: (engine: Engine) => Promise<void>,
  finish: (engine: Engine) => Promise<void>,
): Promise<void> {
  const engine = drill.engine!
  const end = drill.incidents.begin()
  await begin(engine)
  const recovered = await part.outage!(chance)
  await sleep(chance.between(500, longestAwayMs))
  await finish(engine)
  await recovered(end)
}

interface EdgeProcesses {
  processes(): { master: number; workers: number[] }
  container: Docker.Container
}

/** An edge that is not there cannot be disturbed: it may be about to start. */
async function disturbEdge({ drill, part }: Stage, disturb: (site: EdgeProcesses) => Promise<unknown>) {
  const { victim, engine, incidents } = drill
  const processes = () => findEdge(victim.dataDir) ?? { master: 0, workers: [] }
  const container = new Docker({ socketPath: engine!.path }).getContainer(`${victim.prefix}-edge`)
  const end = incidents.begin(edge)
  await disturb({ processes, container }).catch((error: { statusCode?: number }) => {
    if (error.statusCode !== 404 && error.statusCode !== 409) throw error
  })
  await part.untilServed()
  end()
}

/** Resolves when they are gone: until then they may respond. */
async function end(pids: number[]): Promise<void> {
  kill(pids, 'SIGKILL')
  await gone(pids)
}

async function gone(pids: number[]): Promise<void> {
  while (pids.some((pid) => pid > 0 && existsSync(`/proc/${pid}`))) await sleep(10)
}

function kill(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids.filter(Boolean)) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended by itself.
    }
  }
}
