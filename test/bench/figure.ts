// One measured figure with an optional goal. A figure without a goal explains another one.

export interface Figure {
  /** A description for the report. */
  name: string
  value: number
  /** Such as `ms`, `MB`, `/s`; empty for a ratio. */
  unit: string
  goal?: Goal
}

type Goal = { atLeast: number } | { atMost: number }

export function figure(name: string, value: number, unit: string, goal?: Goal): Figure {
  return goal ? { name, value, unit, goal } : { name, value, unit }
}

/** Null for a figure without a goal. */
export function isMet({ value, goal }: Figure): boolean | null {
  if (!goal) return null
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

/** Three digits, which is all the precision that a shared machine allows. */
export function formatValue({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  const digits = { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2, maximumSignificantDigits: 3 }
  const number =
    Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : value.toLocaleString('en', digits)
  return unit === '' || unit.startsWith('/') ? number + unit : `${number} ${unit}`
}

export function formatGoal({ goal, unit }: Figure): string {
  if (!goal) return ''
  if ('atLeast' in goal) return `>= ${formatValue({ value: goal.atLeast, unit })}`
  return `<= ${formatValue({ value: goal.atMost, unit })}`
}

/** On a shared machine, a mean is meaningless. */
export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The smallest value that is at least as large as `percent` of all values. Throws for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error('no measurements')
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!
}
