// The API record of a job run, from its snapshot.
// A failed run is not over while its container may still run.

import { problemFields } from '../problem.ts'
import type { JobRunSnapshot } from './job-run.ts'

const statuses: Record<string, 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled'> = {
  pending: 'pending',
  running: 'running',
  succeeding: 'succeeded',
  succeeded: 'succeeded',
  failing: 'failed',
  failed: 'failed',
  canceling: 'canceled',
  canceled: 'canceled',
}

export function toRecord(snapshot: JobRunSnapshot) {
  const { context } = snapshot
  const root = typeof snapshot.value === 'string' ? snapshot.value : Object.keys(snapshot.value)[0]!
  return {
    id: context.id,
    service_id: context.serviceId,
    deploy_id: context.deployId,
    command: context.command,
    image: context.image,
    status: statuses[root]!,
    trigger: context.trigger,
    scheduled_for: context.scheduledFor,
    overlap: context.overlap,
    timeout_seconds: context.timeoutSeconds,
    exit_code: context.exitCode,
    ...problemFields(hasEnded(root) ? context.error : null),
    created_at: context.at,
    started_at: context.startedAt,
    finished_at: hasEnded(root) ? context.finishedAt : null,
  }
}

export type JobRunRecord = ReturnType<typeof toRecord>

const hasEnded = (root: string) => root !== 'pending' && root !== 'running'
