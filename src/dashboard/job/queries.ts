// What pages read of job runs.
import { queryOptions } from '@tanstack/react-query'
import type { JobRun } from '../../api/job.ts'
import { get } from '../api/client.ts'

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: ['job', id],
    queryFn: get<JobRun>(`/jobs/${encodeURIComponent(id)}`),
  })
}
