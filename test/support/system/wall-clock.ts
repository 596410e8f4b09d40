// The local time in a time zone, minute by minute, and when a schedule is due, by the plain rule.
// Uses only Intl and no offsets, unlike the code it is compared with.
import fc from 'fast-check'

export const minuteMs = 60_000
export const dayMs = 24 * 60 * minuteMs

export interface Minute {
  instant: number
  /** The local date and time, as if it were UTC. */
  wall: number
}

export interface KnownSchedule {
  text: string
  isTimeOfDay: boolean
  isDue: (wall: number) => boolean
}

interface Field {
  text: string
  values: Set<number>
}

/** Returns the local time in the zone. */
export function wallClock(timeZone: string): (instant: number) => number {
  const day = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, ...day, ...time })
  return (instant) => Date.parse(`${format.format(instant).replace(' ', 'T')}:00Z`)
}

/** Each minute from `from` up to, but excluding, `to`. */
export function minutesBetween(timeZone: string, from: number, to: number): Minute[] {
  const show = wallClock(timeZone)
  const minutes: Minute[] = []
  for (let instant = from; instant < to; instant += minuteMs) minutes.push({ instant, wall: show(instant) })
  return minutes
}

/** The minutes between two times, whole days apart, at which the zone's offset changes. */
export function changesBetween(timeZone: string, from: number, to: number): number[] {
  const show = wallClock(timeZone)
  const changes: number[] = []
  for (let day = from; day < to; day += dayMs) {
    if (show(day + dayMs) - show(day) === dayMs) continue
    let [before, behind] = [day, day + dayMs]
    while (behind - before > minuteMs) {
      const middle = before + Math.floor((behind - before) / 2 / minuteMs) * minuteMs
      if (show(middle) - show(day) === middle - day) before = middle
      else behind = middle
    }
    changes.push(behind)
  }
  return changes
}

/** When a schedule is due in these minutes. The offset must not change on the day before them. */
export function dueIn(schedule: KnownSchedule, minutes: Minute[]): number[] {
  if (!schedule.isTimeOfDay) {
    return minutes.filter(({ wall }) => schedule.isDue(wall)).map(({ instant }) => instant)
  }
  const due: number[] = []
  let passed = (minutes[0]?.wall ?? 0) - minuteMs
  for (const { instant, wall } of minutes) {
    let isDue = false
    for (; passed < wall; passed += minuteMs) isDue ||= schedule.isDue(passed + minuteMs)
    if (isDue) due.push(instant)
  }
  return due
}

/** Schedules with wildcards, steps, ranges and lists. */
export function anySchedule(): fc.Arbitrary<KnownSchedule> {
  const everyDay = fc.constant(everything(1, 31))
  const days = fc.oneof({ weight: 3, arbitrary: everyDay }, field(1, 31))
  const months = fc.oneof({ weight: 6, arbitrary: fc.constant(everything(1, 12)) }, field(1, 12))
  const weekdays = fc.oneof({ weight: 3, arbitrary: fc.constant(everything(0, 6)) }, field(0, 6))
  return fc.tuple(field(0, 59), field(0, 23), days, months, weekdays).map(toSchedule)
}

function toSchedule(fields: [Field, Field, Field, Field, Field]): KnownSchedule {
  const [minutes, hours, days, months, weekdays] = fields
  const isEither = days.text !== '*' && weekdays.text !== '*'
  const isDue = (wall: number): boolean => {
    const at = new Date(wall)
    if (!minutes.values.has(at.getUTCMinutes()) || !hours.values.has(at.getUTCHours())) return false
    if (!months.values.has(at.getUTCMonth() + 1)) return false
    const [day, weekday] = [days.values.has(at.getUTCDate()), weekdays.values.has(at.getUTCDay())]
    return isEither ? day || weekday : day && weekday
  }
  const text = fields.map((field) => field.text).join(' ')
  return { text, isTimeOfDay: !hours.text.startsWith('*'), isDue }
}

function field(least: number, most: number): fc.Arbitrary<Field> {
  const value = fc.integer({ min: least, max: most })
  const step = fc.integer({ min: 2, max: Math.ceil(most / 2) })
  const range = fc.tuple(value, value).map((ends) => ends.toSorted((a, b) => a - b) as [number, number])
  return fc.oneof(
    fc.constant(everything(least, most)),
    step.map((by) => stepped(`*/${by}`, least, most, by)),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => listed(values)),
    range.map(([from, to]) => stepped(`${from}-${to}`, from, to, 1)),
    fc.tuple(range, step).map(([[from, to], by]) => stepped(`${from}-${to}/${by}`, from, to, by)),
  )
}

function everything(least: number, most: number): Field {
  return stepped('*', least, most, 1)
}

function stepped(text: string, from: number, to: number, by: number): Field {
  const values = new Set<number>()
  for (let value = from; value <= to; value += by) values.add(value)
  return { text, values }
}

function listed(values: number[]): Field {
  return { text: values.join(','), values: new Set(values) }
}
