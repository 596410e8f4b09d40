// Ages, durations and remaining times for people: two units at most.

const steps = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3600 },
  { unit: 'm', seconds: 60 },
  { unit: 's', seconds: 1 },
]

/** `3m ago`, for a timestamp of the API; `never` for none. */
export function age(timestamp: string | null | undefined, now = Date.now()): string {
  if (!timestamp) return 'never'
  const seconds = Math.floor((now - Date.parse(timestamp)) / 1000)
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`
}

/** `2d 4h`: the two largest units, the second only below three of the first. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const index = steps.findIndex((step) => whole >= step.seconds)
  if (index === -1) return '0s'
  const { unit, seconds: size } = steps[index]!
  const amount = Math.floor(whole / size)
  const next = steps[index + 1]
  const rest = next ? Math.floor((whole % size) / next.seconds) : 0
  return next && amount < 3 && rest > 0 ? `${amount}${unit} ${rest}${next.unit}` : `${amount}${unit}`
}

/** Remaining time, to the minute: one second after a deletion with 7 days of grace it is 7 days, not 6. */
export function timeLeft(timestamp: string, now = Date.now()): string {
  return span(Math.round((Date.parse(timestamp) - now) / 60_000) * 60)
}
