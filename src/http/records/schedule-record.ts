// The schedule of a cron job in responses. Only a waiting schedule has next runs.
import type { CronScheduleRecord } from '../../../machines/cron-schedule.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { JobRun } from '../../api/job.ts'
import type { Schedule } from '../../api/schedule.ts'
import { nextTime } from '../../domain/schedule.ts'
import { scheduleIdOf } from '../../domain/service-types.ts'

const maxNextRuns = 5

export function toSchedule(storage: Storage, row: ServiceRow): Schedule {
  const record = recordOf(storage, row)
  const timezone = row.timezone ?? 'UTC'
  const status = scheduleStatus(storage, row)
  return {
    schedule: row.schedule!,
    timezone,
    overlap: row.overlap ?? 'skip',
    status,
    error: status === 'failed' ? (record?.error ?? null) : null,
    next: status === 'waiting' ? nextRuns(row.schedule!, timezone, maxNextRuns) : [],
    last_run: lastRun(storage, record),
    last_skip: record?.last_skip ?? null,
  }
}

export function nextRunAt(storage: Storage, row: ServiceRow): string | null {
  if (scheduleStatus(storage, row) !== 'waiting') return null
  return nextRuns(row.schedule!, row.timezone ?? 'UTC', 1)[0] ?? null
}

export function scheduleStatus(storage: Storage, row: ServiceRow): Schedule['status'] {
  if (row.deleting) return 'deleting'
  if (recordOf(storage, row)?.status === 'failed') return 'failed'
  if (row.suspended) return 'suspended'
  return row.live_deploy_id ? 'waiting' : 'not_deployed'
}

/** A parked schedule has the status `failed` and an error. */
type ShownSchedule = Omit<CronScheduleRecord, 'status'> & { status: string; error?: string }

function recordOf({ actors }: Storage, { id }: ServiceRow): ShownSchedule | null {
  return actors.record<'cron-schedule'>(scheduleIdOf(id))
}

/** Also null when the run is so old that its record was removed. */
function lastRun({ actors }: Storage, record: ShownSchedule | null): JobRun | null {
  return record?.last_run ? (actors.record(record.last_run.job_id) as JobRun | null) : null
}

function nextRuns(schedule: string, timezone: string, limit: number): string[] {
  const instants: string[] = []
  for (let at = new Date(); instants.length < limit; ) {
    const next = nextTime(schedule, at, timezone)
    if (next === null) break
    instants.push(next.toISOString())
    at = next
  }
  return instants
}
