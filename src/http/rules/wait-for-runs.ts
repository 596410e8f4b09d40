// Ends the runs of a service that is suspended or deleted, before the request is answered. The wait is
// bounded. Their containers get ten more seconds afterwards.
import type { JobRunRecord } from '../../../machines/job-run/job-run-record.ts'
import type { HttpStorage } from '../pipeline/context.ts'
import { awaitRecord } from '../records/awaited-record.ts'

const waitMs = 5000

/** Resolves when none of them is pending or running any more. */
export async function waitForRunsToEnd(storage: HttpStorage, serviceId: string): Promise<void> {
  const active = [...storage.actors.active('job-run', serviceId)]
  await Promise.all(active.map(({ id }) => awaitRecord<'job-run'>(storage, id, waitMs, isFinished)))
}

function isFinished({ status }: JobRunRecord): boolean {
  return status !== 'pending' && status !== 'running'
}
