// The schedule of a cron job: what it will do next, and what it did.
// Mind: when nothing begins by itself there is no next instant to tell.
import type { CronScheduleRecord } from '../../../machines/cron-schedule.ts'
import type { HistoryEntry } from '../../../storage/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { Failure } from '../../errors.ts'
import { scheduleIdOf } from '../../jobs.ts'
import { nextTime } from '../../schedule.ts'
import type { HttpStorage } from '../context.ts'
import type { Call } from '../route.ts'
import type { JobRun } from '../schemas/job.ts'
import type { Schedule } from '../schemas/schedule.ts'
import type { ServiceParams } from '../schemas/service.ts'
import { findService } from '../service-record.ts'

const toldInstants = 5

export function getSchedule({ context: { storage }, params }: Call<ServiceParams>): Schedule {
  const row = findScheduled(storage, params.id)
  const record = storage.actors.record(scheduleIdOf(row.id)) as ShownSchedule | null
  const timezone = row.timezone ?? 'UTC'
  const status = statusOf(row, record)
  return {
    schedule: row.schedule!,
    timezone,
    overlap: row.overlap ?? 'skip',
    status,
    error: status === 'failed' ? (record?.error ?? null) : null,
    next: status === 'waiting' ? nextInstants(row.schedule!, timezone) : [],
    last_run: lastRun(storage, record),
    last_skip: record?.last_skip ?? null,
  }
}

/** What is parked has another status, and says why. */
type ShownSchedule = Omit<CronScheduleRecord, 'status'> & { status: string; error?: string }

function statusOf(row: ServiceRow, record: ShownSchedule | null): Schedule['status'] {
  if (row.deleting) return 'deleting'
  if (record?.status === 'failed') return 'failed'
  if (row.suspended) return 'suspended'
  return row.live_deploy_id ? 'waiting' : 'not_deployed'
}

/** The transitions of the schedule: what was begun, what was skipped. */
export function scheduleHistory({ context: { storage }, params }: Call<ServiceParams>): HistoryEntry[] {
  return storage.actors.history(scheduleIdOf(findScheduled(storage, params.id).id))
}

/** Throws `not_found` for a service that has no schedule. */
function findScheduled(storage: HttpStorage, idOrName: string): ServiceRow {
  const row = findService(storage, idOrName)
  if (row.schedule !== null) return row
  throw new Failure('not_found', `${row.name} has no schedule: it is no cron job`)
}

/** Null too when it is so old that it was forgotten. */
function lastRun({ actors }: HttpStorage, record: ShownSchedule | null): JobRun | null {
  return record?.last_run ? (actors.record(record.last_run.job_id) as JobRun | null) : null
}

function nextInstants(schedule: string, timezone: string): string[] {
  const instants: string[] = []
  for (let at = new Date(); instants.length < toldInstants; ) {
    const next = nextTime(schedule, at, timezone)
    if (next === null) break
    instants.push(next.toISOString())
    at = next
  }
  return instants
}
