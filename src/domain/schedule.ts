// Schedules as cron writes them: five fields, or one of its words, read on the clocks of a time zone.
// cron-parser sees wall times only: its zones lose runs. Where clocks change, Vixie cron's rule holds.
import { type CronExpression, CronExpressionParser } from 'cron-parser'
import { firstInstantOf, instantsOf, isTimeZone, offsetMs } from './time-zone.ts'

const fieldCount = 5
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const words = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

interface Plan {
  expression: CronExpression
  isTimeOfDay: boolean
  timeZone: string
}

/** The normal form of what somebody typed; null for what is no schedule, or one that never comes. */
export function parseSchedule(text: string): string | null {
  const schedule = text.trim().replace(/\s+/g, ' ')
  return nextTime(schedule, new Date()) === null ? null : schedule
}

/**
 * The first time after `after`; null when there is none, or no such zone.
 *
 * Where clocks are changed it goes as in Vixie's and Debian's cron, but that the hour field alone decides:
 * - It begins with `*`: by elapsed time. What falls into the gap of spring is left out, and what falls into
 *   the hour that autumn repeats comes twice.
 * - Else it is a time of day. What falls into a gap comes at its end, once even if it is several times; of an
 *   hour that is repeated only the first passing counts.
 */
export function nextTime(schedule: string, after: Date, timeZone = 'UTC'): Date | null {
  const plan = readPlan(schedule, timeZone)
  if (plan === null) return null
  const start = after.getTime()
  const [least, most] = offsetsBetween(timeZone, start, start + dayMs)
  let found = Infinity
  for (const wall of wallTimes(plan, 'next', start + least)) {
    found = Math.min(found, ...timesOf(plan, wall).filter((time) => time > start))
    // By elapsed time, a later wall time may come earlier: on the first passing of an hour that is repeated.
    if (plan.isTimeOfDay ? found < Infinity : found <= wall + minuteMs - most) break
  }
  return found === Infinity ? null : new Date(found)
}

/** The last time at or before `notAfter`, by the same rule; null when there is none, or no such zone. */
export function latestTime(schedule: string, notAfter: Date, timeZone = 'UTC'): Date | null {
  const plan = readPlan(schedule, timeZone)
  if (plan === null) return null
  const end = notAfter.getTime()
  const [least, most] = offsetsBetween(timeZone, end - dayMs, end)
  let found = -Infinity
  for (const wall of wallTimes(plan, 'prev', end + most + 1)) {
    found = Math.max(found, ...timesOf(plan, wall).filter((time) => time <= end))
    if (plan.isTimeOfDay ? found > -Infinity : found >= wall - minuteMs - least) break
  }
  return found === -Infinity ? null : new Date(found)
}

function readPlan(schedule: string, timeZone: string): Plan | null {
  const fields = (words.get(schedule) ?? schedule).trim().split(/\s+/)
  if (fields.length !== fieldCount || fields.some(isRandom) || !isTimeZone(timeZone)) return null
  try {
    const expression = CronExpressionParser.parse(fields.join(' '), { tz: 'UTC' })
    return { expression, isTimeOfDay: !/^[*?]/.test(fields[1] ?? ''), timeZone }
  } catch {
    return null
  }
}

/** An `H` is any value to cron-parser, another one each time; the only name that has this letter is `thu`. */
function isRandom(field: string): boolean {
  return /h/i.test(field.replace(/thu/gi, ''))
}

/** What clocks show when it is time, in order from then on, or backwards. */
function* wallTimes({ expression }: Plan, towards: 'next' | 'prev', from: number): Generator<number> {
  try {
    expression.reset(new Date(from))
    for (;;) yield expression[towards]().getTime()
  } catch {
    // That is how cron-parser says that there are no more.
  }
}

function timesOf({ isTimeOfDay, timeZone }: Plan, wall: number): number[] {
  return isTimeOfDay ? [firstInstantOf(timeZone, wall)] : instantsOf(timeZone, wall)
}

/** The least and the most that clocks are ahead of UTC in that day: no zone changes them twice in one. */
function offsetsBetween(timeZone: string, from: number, to: number): [least: number, most: number] {
  const offsets = [offsetMs(timeZone, from), offsetMs(timeZone, to)]
  return [Math.min(...offsets), Math.max(...offsets)]
}
