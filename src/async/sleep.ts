import { setTimeout } from 'node:timers/promises'

/** Rejects with the signal's own reason. With `ref: false` the timer does not keep the process alive. */
export async function sleep(durationMs: number, signal?: AbortSignal, { ref = true } = {}): Promise<void> {
  await setTimeout(durationMs, undefined, { signal, ref }).catch(() => signal?.throwIfAborted())
}
