// What waits in the trash: how large it is, and when its time is over.

import { volumeBytes } from '../docker/volume-size.ts'
import { findVolume } from '../docker/volumes.ts'
import { type Host, isoNow } from './host.ts'
import { sleep, untilDone } from './waiting.ts'

/** The clock may be set meanwhile. */
const lookEveryMs = 30_000
/** Nobody needs the size so much that a deletion waits longer for it. */
const measureMs = 10_000

export async function awaitExpiry({ wakeAt }: { wakeAt: number }, signal: AbortSignal) {
  for (let left = wakeAt - Date.now(); left > 0; left = wakeAt - Date.now()) {
    await sleep(Math.min(left, lookEveryMs), signal)
  }
  return { at: isoNow() }
}

/** Whether that volume is there, and its size where that can be measured soon. */
export async function measureVolume(host: Host, actorId: string, name: string, signal: AbortSignal) {
  let found: { directory: string } | null = null
  await untilDone(host, actorId, signal, async () => {
    found = await findVolume(host.engine, host.owner, name)
  })
  const directory = (found as { directory: string } | null)?.directory
  if (directory === undefined) return { isThere: false, sizeBytes: null }
  const bound = AbortSignal.any([signal, AbortSignal.timeout(measureMs)])
  return { isThere: true, sizeBytes: await volumeBytes(directory, bound) }
}
