// Cron schedules.
import { z } from 'zod'
import { parseSchedule } from '../domain/schedule.ts'
import { isTimeZone } from '../domain/time-zone.ts'
import { JobRun } from './job.ts'
import { clearable, timestamp } from './parts/fields.ts'

/** The normal form; undefined if omitted, null if cleared. */
export const scheduleText = clearable(z.string().max(100))
  .refine((text) => !text || parseSchedule(text) !== null, {
    error: 'must be five cron fields with a next time, such as 0 3 * * *, or a shortcut such as @daily',
  })
  .transform((text) => text && parseSchedule(text))

export const timeZone = clearable(z.string().max(64)).refine((name) => !name || isTimeZone(name), {
  error: 'must be a time zone name, such as Europe/Berlin',
})

export const Schedule = z
  .object({
    schedule: z.string(),
    timezone: z.string(),
    overlap: z.enum(['skip', 'queue', 'replace']),
    status: z.enum(['not_deployed', 'waiting', 'suspended', 'deleting', 'failed']).meta({
      description: 'Runs start only in the state `waiting`; in every other state there is no next time.',
    }),
    error: z.string().nullable().meta({ description: 'Why the schedule failed.' }),
    next: z.array(timestamp).meta({ description: 'The next five times, in the state `waiting`.' }),
    last_run: JobRun.nullable().meta({ description: 'The latest run that the schedule started.' }),
    last_skip: z
      .object({ scheduled_for: timestamp, at: timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'The latest scheduled time without a run, and the reason.' }),
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.output<typeof Schedule>
