// After a run: the last line of its log, then its container, address and place go, and runs that are too old.
// Mind: who follows the log need not wait for the rest.
import type { RunSlot } from '../../../machines/job-run/job-run.ts'
import { jobKind } from '../../docker/engine/names.ts'
import { type Host, isoNow } from '../host.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { retryUntilCleanedUp } from '../waiting.ts'

/** Of each service; the older ones are forgotten with their logs. */
const runsKept = 1000

export function clearRun(host: Host) {
  return async ({ id, serviceId, outcome }: RunSlot & { outcome: string }, signal: AbortSignal) => {
    await openActorLog(host, 'job', id).close(outcome)
    // Its container runs no more. Nobody waits for Docker to remove it.
    host.jobSlots.release(id)
    await retryUntilCleanedUp(host, id, signal, () => removeRunContainers(host, { deployId: id }))
    await host.storage.addresses.release(id)
    for (const old of await host.storage.actors.forgetOlder('job-run', serviceId, runsKept)) {
      await host.storage.logs.remove(old)
    }
    return { at: isoNow() }
  }
}

/** Of one run, or of all of a service. */
export async function removeRunContainers(host: Host, of: { deployId: string } | { serviceId: string }) {
  for (const { name } of await host.instances.list({ ...of, kind: jobKind })) {
    await host.instances.remove(name)
  }
}
