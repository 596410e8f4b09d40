// Cron schedules.
import { z } from 'zod'
import { isTimeZone, parseSchedule } from '../domain/schedule.ts'
import { JobRun } from './job.ts'
import { clearable, text, timestamp } from './parts/fields.ts'

/** The normal form; undefined if omitted, null if cleared. */
export const scheduleText = clearable(z.string().max(100))
  .refine((text) => !text || parseSchedule(text) !== null, {
    error: ({ input }) => scheduleRule(String(input)),
  })
  .transform((text) => text && parseSchedule(text))

/** Names a character that cron does not have, such as the quote of a word processor. */
function scheduleRule(text: string): string {
  const rule = 'must be five cron fields with a next time, such as 0 3 * * *, or a shortcut such as @daily'
  const strange = /[^\w\s*/,?#@-]/u.exec(text)?.[0]
  return strange === undefined ? rule : `has the character ${strange}: it ${rule}`
}

export const timeZone = clearable(z.string().max(64)).refine((name) => !name || isTimeZone(name), {
  error: 'must be a time zone name, such as Europe/Berlin',
})

export const Schedule = z
  .object({
    schedule: z.string().describe('Five cron fields.'),
    timezone: z.string().describe('The time zone of the schedule.'),
    overlap: z
      .enum(['skip', 'queue', 'replace'])
      .describe(
        'What happens when a run is due during another run: `skip` skips it, `queue` queues it, ' +
          '`replace` cancels the active run.',
      ),
    status: z
      .enum(['not_deployed', 'waiting', 'suspended', 'deleting', 'failed'])
      .describe('Runs start only in the state `waiting`; in every other state there is no next time.'),
    error: text.describe('Why the schedule failed.'),
    next: z.array(timestamp).describe('The next five times, in the state `waiting`.'),
    last_run: JobRun.nullable().describe('The latest run that the schedule started.'),
    last_skip: z
      .object({
        scheduled_for: timestamp.describe('The scheduled time that was skipped.'),
        at: timestamp.describe('When it was skipped.'),
        reason: z.string().describe('Why.'),
      })
      .nullable()
      .describe('The latest scheduled time without a run, and the reason.'),
  })
  .meta({ id: 'Schedule', description: 'When a cron job runs.' })
export type Schedule = z.output<typeof Schedule>
