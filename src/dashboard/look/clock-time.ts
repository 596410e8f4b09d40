// Times in the time zone of the reader. The first format of `Intl` takes 15 ms: not on the first page.

/** `2026-11-27 14:02:09` */
export function dateTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offsetMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** `14:02:09` */
export function timeOfDay(at: number): string {
  return dateTime(at).slice(11)
}

/** With the day if it is not today: `Nov 27, 14:02:09`. */
export function clockTime(at: number): string {
  const day = new Date(at).toDateString()
  return day === new Date().toDateString() ? timeOfDay(at) : `${day.slice(4, 10)}, ${timeOfDay(at)}`
}

/** `14:02:09.123` */
export function exactTime(at: number): string {
  return `${timeOfDay(at)}.${String(at % 1000).padStart(3, '0')}`
}
