const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** `14:02:09`, with the day if it is not today. In the time zone of the reader. */
export function clockTime(at: number): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? time.format(date) : `${day.format(date)}, ${time.format(date)}`
}
