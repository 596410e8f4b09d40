// Times of the day, in the time zone of the reader.
const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** `14:02:09` */
export function timeOfDay(at: number): string {
  return time.format(at)
}

/** With the day if it is not today. */
export function clockTime(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  return isToday ? timeOfDay(at) : `${day.format(at)}, ${timeOfDay(at)}`
}

/** `14:02:09.123` */
export function exactTime(at: number): string {
  return `${timeOfDay(at)}.${String(at % 1000).padStart(3, '0')}`
}
