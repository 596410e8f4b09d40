// The schedule of a cron job: its next runs and its history.

import { z } from 'zod'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { HistoryEntry } from '../../api/deploy.ts'
import { Schedule } from '../../api/schedule.ts'
import { scheduleIdOf } from '../../domain/job-defaults.ts'
import { notFound } from '../../errors.ts'
import { get, tagged } from '../pipeline/route.ts'
import { toSchedule } from '../records/schedule-record.ts'
import { findService } from '../records/service-record.ts'
import { readsService } from './record-routes.ts'

export const scheduleRoutes = tagged('Jobs', [
  get('/services/{id}/schedule', {
    ...readsService,
    summary: 'Returns the schedule of a cron job: its next runs, its last run, and why one was skipped',
    response: Schedule,
    handler: ({ context: { storage }, params }) => toSchedule(storage, findScheduled(storage, params.id)),
  }),
  get('/services/{id}/schedule/history', {
    ...readsService,
    summary: 'Lists the transitions of a schedule: the first 10 and the last 500',
    response: z.array(HistoryEntry),
    handler: ({ context: { storage }, params }) =>
      storage.actors.history(scheduleIdOf(findScheduled(storage, params.id).id)),
  }),
])

function findScheduled(storage: Storage, idOrName: string): ServiceRow {
  const row = findService(storage, idOrName)
  if (row.schedule !== null) return row
  throw notFound(`${row.name} has no schedule: it is not a cron job`)
}
