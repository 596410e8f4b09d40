// The schedule of a cron job: its next runs and its history.
import type { HistoryEntry } from '../../../storage/actors/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Schedule } from '../../api/schedule.ts'
import { scheduleIdOf } from '../../domain/job-defaults.ts'
import { Failure } from '../../errors.ts'
import type { HttpStorage } from '../pipeline/context.ts'
import type { CallById } from '../pipeline/route.ts'
import { toSchedule } from '../records/schedule-record.ts'
import { findService } from '../records/service-record.ts'

export function getSchedule({ context: { storage }, params }: CallById): Schedule {
  return toSchedule(storage, findScheduled(storage, params.id))
}

/** The transitions of the schedule: started and skipped runs. */
export function scheduleHistory({ context: { storage }, params }: CallById): HistoryEntry[] {
  return storage.actors.history(scheduleIdOf(findScheduled(storage, params.id).id))
}

/** Throws `not_found` for a service that has no schedule. */
function findScheduled(storage: HttpStorage, idOrName: string): ServiceRow {
  const row = findService(storage, idOrName)
  if (row.schedule !== null) return row
  throw new Failure('not_found', `${row.name} has no schedule: it is not a cron job`)
}
