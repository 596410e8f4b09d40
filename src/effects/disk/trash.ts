// Entries of the trash: their size, and their expiry.
import { sleep } from '../../async/sleep.ts'
import { findVolume, volumeBytes } from '../../docker/containers/volumes.ts'
import type { EnginePorts } from '../engine/ports.ts'
import type { CleanupPorts } from '../waiting.ts'
import { retryUntilCleanedUp } from '../waiting.ts'

/** The clock may be changed during the wait. */
const pollIntervalMs = 30_000
const measureMs = 10_000

export async function awaitExpiry({ wakeAt }: { wakeAt: number }, signal: AbortSignal) {
  for (let left = wakeAt - Date.now(); left > 0; left = wakeAt - Date.now()) {
    await sleep(Math.min(left, pollIntervalMs), signal)
  }
}

/** Whether that volume exists, and its size if it can be measured in time. */
export async function measureVolume(
  ports: Pick<EnginePorts, 'engine' | 'owner'> & CleanupPorts,
  actorId: string,
  name: string,
  signal: AbortSignal,
) {
  let volume: { directory: string } | null = null
  await retryUntilCleanedUp(ports, actorId, signal, async () => {
    volume = await findVolume(ports.engine, ports.owner, name)
  })
  const directory = (volume as { directory: string } | null)?.directory
  if (directory === undefined) return { isThere: false, sizeBytes: null }
  const bound = AbortSignal.any([signal, AbortSignal.timeout(measureMs)])
  return { isThere: true, sizeBytes: await volumeBytes(directory, bound) }
}
