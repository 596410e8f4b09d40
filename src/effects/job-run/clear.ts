// After a run: writes the last line of its log, removes its container, address and slot, and deletes old
// runs. Clients that follow the log do not wait for the rest.
import type { RunSlot } from '../../../machines/job-run/job-run.ts'
import { jobKind } from '../../docker/engine/names.ts'
import { isoNow } from '../iso-now.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import type { JobRunPorts } from './ports.ts'

/** Per service; older runs are deleted with their logs. */
const maxRetainedRuns = 1000

export function clearRun(ports: JobRunPorts) {
  return async ({ id, serviceId, outcome }: RunSlot & { outcome: string }, signal: AbortSignal) => {
    await openActorLog(ports, 'job', id).close(outcome)
    // The container has ended, so the slot is free before Docker has removed the container.
    ports.jobSlots.release(id)
    await retryUntilCleanedUp(ports, id, signal, () => removeRunContainers(ports, { deployId: id }))
    await ports.storage.addresses.release(id)
    for (const old of await ports.storage.actors.removeOlder('job-run', serviceId, maxRetainedRuns)) {
      await ports.storage.logs.remove(old)
    }
    return { at: isoNow() }
  }
}

export async function removeRunContainers(
  ports: Pick<JobRunPorts, 'instances'>,
  of: { deployId: string } | { serviceId: string },
) {
  for (const { name } of await ports.instances.list({ ...of, kind: jobKind })) {
    await ports.instances.remove(name)
  }
}
