// Sends at a fixed rate, whatever becomes of what was sent before.
// A late answer never holds back the next request, and its latency counts from when it was meant to go.
import { setTimeout as sleep } from 'node:timers/promises'

/** `send` gets the instant it was meant for, by performance.now(). Resolves when the last is answered. */
export async function runOpenLoop(
  perSecond: number,
  isOver: () => boolean,
  send: (dueAt: number) => Promise<void>,
): Promise<void> {
  if (perSecond === 0) return
  const underWay = new Set<Promise<void>>()
  for (let dueAt = performance.now(); !isOver(); dueAt += 1000 / perSecond) {
    const earlyMs = dueAt - performance.now()
    if (earlyMs > 0) await sleep(Math.ceil(earlyMs))
    const sent = send(dueAt).finally(() => underWay.delete(sent))
    underWay.add(sent)
  }
  await Promise.all(underWay)
}
