// Formats times in a time zone. The server names it; UTC is used if this program does not know it.

const minute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const day = { weekday: 'short', day: 'numeric', month: 'short' } as const

/** `03:00` */
export function clockTime(at: string, timeZone: string): string {
  return isInstant(at) ? formatterOf(minute, timeZone).format(new Date(at)) : at
}

/** `Mon 23 Nov 03:00`, with the year if it differs from that of `now`. */
export function dayAndTime(at: string, timeZone: string, now = new Date()): string {
  if (!isInstant(at)) return at
  const yearOf = (instant: Date) => formatterOf({ year: 'numeric' }, timeZone).format(instant)
  const year = yearOf(new Date(at))
  const date = formatterOf(day, timeZone).format(new Date(at)).replace(',', '')
  return `${date}${year === yearOf(now) ? '' : ` ${year}`} ${clockTime(at, timeZone)}`
}

export function ownTimeZone({ TZ }: NodeJS.ProcessEnv): string {
  if (TZ && isKnownTimeZone(TZ)) return TZ
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

export function haveSameClock(one: string, other: string, instants: string[]): boolean {
  return instants.every((at) => dayAndTime(at, one) === dayAndTime(at, other))
}

export function isKnownTimeZone(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en-GB', { timeZone }))
  } catch {
    return false
  }
}

/** The server may send an invalid time. */
function isInstant(at: string): boolean {
  return !Number.isNaN(Date.parse(at))
}

function formatterOf(options: Intl.DateTimeFormatOptions, timeZone: string): Intl.DateTimeFormat {
  const knownZone = isKnownTimeZone(timeZone) ? timeZone : 'UTC'
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: knownZone })
}
