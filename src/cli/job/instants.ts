// Formats times in a time zone.

const minute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const day = { weekday: 'short', day: 'numeric', month: 'short' } as const

/** `03:00` */
export function clockTime(at: string, timeZone: string): string {
  return format(minute, timeZone, new Date(at))
}

/** `Mon 23 Nov 03:00`, with the year if it differs from that of `now`. */
export function dayAndTime(at: string, timeZone: string, now = new Date()): string {
  const yearOf = (instant: Date) => format({ year: 'numeric' }, timeZone, instant)
  const year = yearOf(new Date(at))
  const date = format(day, timeZone, new Date(at)).replace(',', '')
  return `${date}${year === yearOf(now) ? '' : ` ${year}`} ${clockTime(at, timeZone)}`
}

function format(options: Intl.DateTimeFormatOptions, timeZone: string, instant: Date): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(instant)
  } catch {
    // The server may know a newer time zone.
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(instant)
  }
}
