// How much CPU something uses. Other programs share the machine, so a clock would measure them as well.
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'

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

/** The least of some attempts: garbage of earlier ones may be collected in any of them. */
export async function leastOf(measure: () => number | Promise<number>, enough: number): Promise<number> {
  let least = await measure()
  for (let tries = 1; tries < 5 && least >= enough; tries++) least = Math.min(least, await measure())
  return least
}

/**
 * Fails if the whole input takes a second of CPU, and also more than its share: 8 times as much as a
 * quarter. On a busy machine the CPU of the same work doubles. `read` gets the share, 1 or 0.25.
 */
export async function assertCheap(read: (share: number) => unknown, name = 'it'): Promise<void> {
  const used = async (share: number) => (await cpuOf(async () => read(share))).usedMs
  const usedMs = await used(1)
  if (usedMs < 1000) return
  const ratio = await leastOf(async () => (await used(1)) / (await used(0.25)), 8)
  assert.ok(
    ratio < 8,
    `${name}: ${Math.round(usedMs)} ms, ${ratio.toFixed(1)} times as much as for a quarter`,
  )
}

function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
