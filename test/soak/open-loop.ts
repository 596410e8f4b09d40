// Sends at a fixed rate, independently of earlier requests.
// A late response never delays the next request.
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves with the last response. */
export async function runOpenLoop(
  perSecond: number,
  hasEnded: () => boolean,
  send: () => Promise<void>,
): Promise<void> {
  if (perSecond === 0) return
  const underWay = new Set<Promise<void>>()
  for (let dueAt = performance.now(); !hasEnded(); dueAt += 1000 / perSecond) {
    const earlyMs = dueAt - performance.now()
    if (earlyMs > 0) await sleep(Math.ceil(earlyMs))
    const sent = send().finally(() => underWay.delete(sent))
    underWay.add(sent)
  }
  await Promise.all(underWay)
}
