// Medians and tails: on a shared machine, a mean is meaningless.

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The smallest value that is at least as large as `percent` of all values. Throws for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error('no measurements')
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!
}
