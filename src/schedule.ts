// Schedules as cron writes them: five fields, or one of its words, in UTC.
import { CronExpressionParser } from 'cron-parser'

const words = /^@(hourly|daily|weekly|monthly|yearly)$/
const fieldCount = 5

/** The normal form of what somebody typed; null for what is no schedule, or one that never comes. */
export function parseSchedule(text: string): string | null {
  const fields = text.trim().split(/\s+/)
  const schedule = fields.join(' ')
  if (fields.length !== fieldCount && !words.test(schedule)) return null
  return nextTime(schedule, new Date()) === null ? null : schedule
}

/** The first time after `after`; null when there is none. */
export function nextTime(schedule: string, after: Date): Date | null {
  try {
    return CronExpressionParser.parse(schedule, { currentDate: after, tz: 'UTC' }).next().toDate()
  } catch {
    return null
  }
}
