// Cron schedules (five fields or a keyword) in a time zone. At clock changes the rule of Vixie cron applies.
// cron-parser gets only wall times, because its own time zone support loses runs.
import { type CronExpression, CronExpressionParser } from 'cron-parser'

const fieldCount = 5
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const keywords = new Map([
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

/** The normal form of user input. Null for an invalid schedule, and for one that never occurs. */
export function parseSchedule(text: string): string | null {
  const schedule = text.trim().replace(/\s+/g, ' ')
  return nextTime(schedule, new Date()) === null ? null : schedule
}

/**
 * The first time after `after`. Null for a schedule without further times, or an unknown zone.
 *
 * Clock changes are handled as in Vixie's and Debian's cron, except that only the hour field decides:
 * - An hour field with a leading `*` means elapsed time: times in the gap of spring are skipped, and times in
 *   the repeated hour of autumn occur twice.
 * - Otherwise it is a time of day: all times in a gap occur once, at its end, and times in a repeated hour
 *   occur only the first time.
 */
export function nextTime(schedule: string, after: Date, timeZone = 'UTC'): Date | null {
  const plan = readPlan(schedule, timeZone)
  if (plan === null) return null
  const start = after.getTime()
  const [least, most] = offsetsBetween(timeZone, start, start + dayMs)
  let found = Infinity
  for (const wall of wallTimes(plan, 'next', start + least)) {
    found = Math.min(found, ...timesOf(plan, wall).filter((time) => time > start))
    // By elapsed time, a later wall time can occur earlier: in the first pass of a repeated hour.
    if (plan.isTimeOfDay ? found < Infinity : found <= wall + minuteMs - most) break
  }
  return found === Infinity ? null : new Date(found)
}

/** The last time up to `notAfter`, by the same rule. Null without such a time, or for an unknown zone. */
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
  const fields = (keywords.get(schedule) ?? schedule).trim().split(/\s+/)
  if (fields.length !== fieldCount || fields.some(isRandom) || !isTimeZone(timeZone)) return null
  try {
    const expression = CronExpressionParser.parse(fields.join(' '), { tz: 'UTC' })
    return { expression, isTimeOfDay: !/^[*?]/.test(fields[1] ?? ''), timeZone }
  } catch {
    return null
  }
}

/** cron-parser reads `H` as a random value. The only field name with this letter is `thu`. */
function isRandom(field: string): boolean {
  return /h/i.test(field.replace(/thu/gi, ''))
}

/**
 * The wall times of the schedule from `from` on, forwards or backwards. A wall time is a number like an
 * instant: its date and time of day, read as if they were in UTC.
 */
function* wallTimes({ expression }: Plan, towards: 'next' | 'prev', from: number): Generator<number> {
  try {
    expression.reset(new Date(from))
    for (;;) yield expression[towards]().getTime()
  } catch {
    // cron-parser throws when there are no more times.
  }
}

function timesOf({ isTimeOfDay, timeZone }: Plan, wall: number): number[] {
  return isTimeOfDay ? [firstInstantOf(timeZone, wall)] : instantsOf(timeZone, wall)
}

/** The smallest and largest offset from UTC within that day. No zone changes its clocks twice in a day. */
function offsetsBetween(timeZone: string, from: number, to: number): [least: number, most: number] {
  const offsets = [offsetMs(timeZone, from), offsetMs(timeZone, to)]
  return [Math.min(...offsets), Math.max(...offsets)]
}

// Intl accepts more names than it lists: links of the tz database in any case, and its own abbreviations,
// such as BST for Bangladesh. The pattern matches the form of the links and nothing else.
const listed = new Set(Intl.supportedValuesOf('timeZone'))
const word = '[A-Z](?:[a-z][A-Za-z]*|[A-Z]{1,2})'
const placeName = `(?:US|[A-Z][a-z]+)(?:[/_-]${word})+(?:[+-]?\\d+)?`
const country = '[A-Z][a-z]{3,}|GB(?:-Eire)?|NZ(?:-CHAT)?|PRC|ROC|ROK|W-SU'
const clock = 'UTC|UCT|GMT|GMT[+-]?0|[CEMW]ET|[EHM]ST|[CEMP]ST\\d[CEMP]DT'
const unlisted = new RegExp(`^(?:${placeName}|${country}|${clock})$`)

const formats = new Map<string, Intl.DateTimeFormat>()

/** A name of the tz database, such as `Europe/Berlin` or `UTC`. Case matters; offsets are not names. */
export function isTimeZone(name: string): boolean {
  if (listed.has(name)) return true
  try {
    return unlisted.test(name) && formatOf(name) !== null
  } catch {
    return false
  }
}

/** The offset from UTC at that instant, in milliseconds. Throws for an unknown zone. */
export function offsetMs(timeZone: string, instant: number): number {
  // Formats as `8/5/1969, GMT-00:44:30`. Much cheaper than formatToParts.
  const text = formatOf(timeZone).format(instant)
  const [, sign, hours, minutes, seconds] = /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(text) ?? []
  const ahead = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)
  return (sign === '-' ? -ahead : ahead) * 1000
}

/** The instants of a wall time: none if clocks skip it, two if they repeat it. */
export function instantsOf(timeZone: string, wall: number): number[] {
  const earlier = wall - offsetMs(timeZone, wall - dayMs)
  const later = wall - offsetMs(timeZone, wall + dayMs)
  if (earlier === later) return [earlier]
  return [earlier, later].filter((instant) => instant + offsetMs(timeZone, instant) === wall)
}

/** The first instant of a wall time or, if clocks skip it, the end of the gap. */
export function firstInstantOf(timeZone: string, wall: number): number {
  return instantsOf(timeZone, wall)[0] ?? endOfGap(timeZone, wall)
}

function endOfGap(timeZone: string, wall: number): number {
  let before = wall - offsetMs(timeZone, wall + dayMs)
  let end = wall - offsetMs(timeZone, wall - dayMs)
  while (end - before > 1) {
    const middle = Math.floor((before + end) / 2)
    if (middle + offsetMs(timeZone, middle) < wall) before = middle
    else end = middle
  }
  return end
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const cachedFormat = formats.get(timeZone)
  if (cachedFormat !== undefined) return cachedFormat
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  formats.set(timeZone, format)
  return format
}
