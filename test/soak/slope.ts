// How much a value grows with time, and how sure that is.

export interface Slope {
  perHour: number
  /** Of `perHour`. The true slope is within two of them nineteen times of twenty. */
  standardError: number
}

/** A few points are too few to tell noise from growth. */
const fewestPoints = 30

/** The least-squares line through values at times in milliseconds; null for a few of them. */
export function slopeOf(points: readonly { atMs: number; value: number }[]): Slope | null {
  const count = points.length
  if (count < fewestPoints) return null
  const hours = points.map(({ atMs }) => atMs / 3_600_000)
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = mean(hours)
  const level = mean(points.map(({ value }) => value))
  const spread = hours.reduce((sum, hour) => sum + (hour - middle) ** 2, 0)
  const shared = points.reduce((sum, { value }, at) => sum + (hours[at]! - middle) * (value - level), 0)
  const perHour = shared / spread
  const rest = points.reduce(
    (sum, { value }, at) => sum + (value - level - perHour * (hours[at]! - middle)) ** 2,
    0,
  )
  return { perHour, standardError: Math.sqrt(rest / (count - 2) / spread) }
}

/** Whether the values grow faster than that, with noise as an excuse. */
export const exceeds = ({ perHour, standardError }: Slope, limit: number): boolean =>
  perHour - 2 * standardError > limit
