// A clock that only a test moves, and that it may set. Time passes apart from what the clock shows, as for
// timers.
// Nobody is woken by a clock that is set.
import type { Clock } from '../../src/effects/cron-schedule/clock.ts'

interface Sleeper {
  /** Ms that have passed by then. */
  wakeAt: number
  wake: () => void
}

const patienceMs = Number(process.env.BERTH_TEST_PATIENCE_MS ?? 120_000)

/** Sleeps among the others until it is woken, nudged or aborted. */
async function sleepAmong(
  sleepers: Set<Sleeper>,
  wakeAt: number,
  listen: (listener: () => void) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const wake = () => {
      sleepers.delete(own)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const own: Sleeper = { wakeAt, wake }
    sleepers.add(own)
    signal.addEventListener('abort', wake)
    listen(wake)
  })
  signal.throwIfAborted()
}

export function simulatedClock(at: string) {
  let shownMs = Date.parse(at)
  let passedMs = 0
  const sleepers = new Set<Sleeper>()

  const clock: Clock = {
    now: () => shownMs,
    pause: (listen, durationMs, signal) => sleepAmong(sleepers, passedMs + durationMs, listen, signal),
  }

  function move(durationMs: number): void {
    passedMs += durationMs
    shownMs += durationMs
    for (const sleeper of [...sleepers]) if (sleeper.wakeAt <= passedMs) sleeper.wake()
  }

  return {
    clock,
    /** How many pause. */
    get pausing() {
      return sleepers.size
    },
    /** How long it is until somebody is woken. */
    get restMs() {
      return Math.min(...[...sleepers].map(({ wakeAt }) => wakeAt)) - passedMs
    },
    /** Time passes, at once and in one piece. */
    move,
    /** Somebody sets it. */
    set(to: string): void {
      shownMs = Date.parse(to)
    },
    setBy(ms: number): void {
      shownMs += ms
    },
  }
}

export type SimulatedClock = ReturnType<typeof simulatedClock>

/** Turns of the event loop until it is so: quicker than to sleep in between. */
export async function soon(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it did not happen in time: ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
