// Time zones of the tz database, and the conversion from wall times to instants.
// A wall time is a number like an instant: its date and time of day, read as if they were in UTC.
const dayMs = 24 * 60 * 60_000

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
