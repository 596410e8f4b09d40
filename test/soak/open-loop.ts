// Sends at a fixed rate, independently of earlier requests.
// A late response never delays the next request, and latency counts from the scheduled time.
import { setTimeout as sleep } from 'node:timers/promises'

/** `send` gets the scheduled time by performance.now(). Resolves with the last response. */
export async function runOpenLoop(
  perSecond: number,
  hasEnded: () => boolean,
  send: (dueAt: number) => Promise<void>,
): Promise<void> {
  if (perSecond === 0) return
  const underWay = new Set<Promise<void>>()
  for (let dueAt = performance.now(); !hasEnded(); dueAt += 1000 / perSecond) {
    const earlyMs = dueAt - performance.now()
    if (earlyMs > 0) await sleep(Math.ceil(earlyMs))
    const sent = send(dueAt).finally(() => underWay.delete(sent))
    underWay.add(sent)
  }
  await Promise.all(underWay)
}
