// How much CPU something uses. Other programs share the machine, so a clock would measure them as well.
import { setImmediate } from 'node:timers/promises'

/**
 * More CPU than any reader needs for its largest input, also while other programs run. A reader whose time
 * grows with the square of its input takes minutes.
 */
export const tooMuchMs = 5000

export function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  return usedSince(before)
}

/** The CPU in all, and the most between two turns of the event loop. */
export async function cpuOf(run: () => Promise<unknown>): Promise<{ usedMs: number; longestHoldMs: number }> {
  const start = process.cpuUsage()
  let longestHoldMs = 0
  let isOver = false
  const work = run().finally(() => {
    isOver = true
  })
  while (!isOver) {
    const turn = process.cpuUsage()
    await setImmediate()
    longestHoldMs = Math.max(longestHoldMs, usedSince(turn))
  }
  await work
  return { usedMs: usedSince(start), longestHoldMs }
}

function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
