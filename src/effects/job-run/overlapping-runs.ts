// The other runs of a service's own command, to which the overlap policy of a schedule applies.
// Commands given by a user run in parallel. A canceled run counts until its container no longer exists, which
// can take ten seconds.
import type { JobRunRecord } from '../../../machines/job-run/job-run-record.ts'
import type { Storage } from '../../../storage/index.ts'

type Actors = Pick<Storage['actors'], 'active' | 'record'>

/** Runs that have not ended, oldest first; with `before`, only those older than that run. */
export function* ownRuns(actors: Actors, serviceId: string, before?: string): Iterable<JobRunRecord> {
  for (const { id } of actors.active('job-run', serviceId)) {
    if (before !== undefined && id >= before) return
    const record = actors.record<'job-run'>(id)
    if (record && record.overlap !== null && isUnfinished(record)) yield record
  }
}

/** A run whose command has ended only waits for its cleanup. */
function isUnfinished({ status }: JobRunRecord): boolean {
  return status !== 'succeeded' && status !== 'failed'
}
