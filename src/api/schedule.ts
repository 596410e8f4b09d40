// When something happens by itself, as cron writes it.
import { z } from 'zod'
import { parseSchedule } from '../domain/schedule.ts'
import { isTimeZone } from '../domain/time-zone.ts'
import { JobRun } from './job.ts'
import { clearable, timestamp } from './parts/fields.ts'

/** In normal form; undefined when left out, null when cleared. */
export const scheduleText = clearable(z.string().max(100))
  .refine((text) => !text || parseSchedule(text) !== null, {
    error: 'must be five fields of cron that come some day, as 0 3 * * *, or a word such as @daily',
  })
  .transform((text) => text && parseSchedule(text))

export const timeZone = clearable(z.string().max(64)).refine((name) => !name || isTimeZone(name), {
  error: 'must be a name of the time zone database, as Europe/Berlin',
})

export const Schedule = z
  .object({
    schedule: z.string(),
    timezone: z.string(),
    overlap: z.enum(['skip', 'queue', 'replace']),
    status: z.enum(['not_deployed', 'waiting', 'suspended', 'deleting', 'failed']).meta({
      description: 'Nothing begins by itself but while it is waiting, and so there is no next instant.',
    }),
    error: z.string().nullable().meta({ description: 'Why it has failed.' }),
    next: z.array(timestamp).meta({ description: 'The next five instants, while it waits for them.' }),
    last_run: JobRun.nullable().meta({ description: 'The newest run that the schedule began.' }),
    last_skip: z
      .object({ scheduled_for: timestamp, at: timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'The newest instant without a run, and why it has none.' }),
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.output<typeof Schedule>
