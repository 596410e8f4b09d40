// A clock that only the test moves. The displayed time can be set independently of elapsed time, on which
// timers depend; setting it wakes no timer.
import type { Clock } from '../../../src/effects/cron-schedule/cron-schedule.ts'

interface Sleeper {
  /** The elapsed ms at which it wakes. */
  wakeAt: number
  wake: () => void
}

const timeoutMs = Number(process.env.BERTH_TEST_PATIENCE_MS ?? 120_000)

/** Sleeps until it is woken or aborted. */
async function sleepAmong(
  sleepers: Set<Sleeper>,
  wakeAt: number,
  listen: (listener: () => void) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const wake = () => {
      sleepers.delete(sleeper)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const sleeper: Sleeper = { wakeAt, wake }
    sleepers.add(sleeper)
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
    /** The number of sleepers. */
    get pausing() {
      return sleepers.size
    },
    /** The time until the next wake-up. */
    get restMs() {
      return Math.min(...[...sleepers].map(({ wakeAt }) => wakeAt)) - passedMs
    },
    /** Advances the elapsed time in one step. */
    move,
    /** Sets the displayed time. */
    set(to: string): void {
      shownMs = Date.parse(to)
    },
    setBy(ms: number): void {
      shownMs += ms
    },
  }
}

export type SimulatedClock = ReturnType<typeof simulatedClock>

/** Runs turns of the event loop until the condition holds, which is faster than polling with a timer. */
export async function soon(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
