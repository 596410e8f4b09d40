// Waits, for a bounded time, until the job runs of a suspended or deleted service have ended, before the
// response is sent.
import type { JobRunRecord } from '../../../machines/job-run/job-run-record.ts'
import type { HttpStorage } from '../pipeline/context.ts'
import { awaitRecord } from '../records/stored-record.ts'

const waitMs = 5000

/** Resolves when no run is pending or running, or after the time limit. */
export async function waitForRunsToEnd(storage: HttpStorage, serviceId: string): Promise<void> {
  const active = [...storage.actors.active('job-run', serviceId)]
  await Promise.all(active.map(({ id }) => awaitRecord<'job-run'>(storage, id, waitMs, isFinished)))
}

function isFinished({ status }: JobRunRecord): boolean {
  return status !== 'pending' && status !== 'running'
}
