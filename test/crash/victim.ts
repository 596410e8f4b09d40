// The daemon that is killed repeatedly. Unlike those of other tests, it can be killed during startup.
// Its port changes with every start, so callers await `whenUp` before each request.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../support/daemon/api.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'

export interface Victim extends Pick<TestDaemon, 'prefix' | 'dataDir' | 'log' | 'remove'> {
  /** The last one is the current. */
  readonly lives: Life[]
  /** Starts it and returns at once. */
  start(): void
  /** The API of the current process, or of the next one that comes up. */
  whenUp(): Promise<Api>
  /** Waits until /healthz responds with 200. */
  whenHealthy(): Promise<void>
  /** Sends SIGKILL at any stage. */
  kill(): Promise<void>
  /** Stops responding without losing anything. */
  pause(): void
  resume(): void
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>
}

interface Life {
  startedAt: number
  upAt: number | null
  healthyAt: number | null
}

const upTimeoutMs = 60_000

/** Already up. `onDeath` is called when it exits unprompted. */
export async function openVictim(args: string[], onDeath: (words: string) => void): Promise<Victim> {
  const startedAt = Date.now()
  const daemon = await launchDaemon({ args })
  const { prefix, dataDir, log } = daemon
  const lives: Life[] = [{ startedAt, upAt: Date.now(), healthyAt: null }]
  let isUp = true
  let isEnding = false

  function watch(): void {
    isEnding = false
    void daemon.ended().then((how) => {
      isUp = false
      if (!isEnding) onDeath(`with ${how}: ${log.slice(-5).join('\n')}`)
    })
  }

  async function whenUp(): Promise<Api> {
    for (const deadline = Date.now() + upTimeoutMs; !isUp; await sleep(5)) {
      if (Date.now() > deadline) throw new Error(`the daemon was not up within ${upTimeoutMs / 1000} s`)
    }
    return daemon.api
  }

  watch()
  return {
    prefix,
    dataDir,
    log,
    lives,
    whenUp,
    start() {
      const life: Life = { startedAt: Date.now(), upAt: null, healthyAt: null }
      lives.push(life)
      void daemon.start().then(
        () => {
          life.upAt = Date.now()
          isUp = true
        },
        () => undefined,
      )
      watch()
    },
    async whenHealthy() {
      const { url } = await whenUp()
      const life = lives.at(-1)!
      while ((await fetch(`${url}/healthz`)).status !== 200) await sleep(10)
      life.healthyAt = Date.now()
    },
    async kill() {
      isEnding = true
      await daemon.kill()
    },
    pause: () => void process.kill(daemon.pid, 'SIGSTOP'),
    resume: () => void process.kill(daemon.pid, 'SIGCONT'),
    stop() {
      isEnding = true
      return daemon.stop()
    },
    remove() {
      isEnding = true
      return daemon.remove()
    },
  }
}
