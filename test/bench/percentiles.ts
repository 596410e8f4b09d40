// The middle of measurements and their tail: on a machine with neighbours a mean says nothing.

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The smallest value that at least `percent` of all are not above. Throws for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error('nothing was measured')
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!
}
