// The amount of fault injection: `npm test` tries each kind of fault, `npm run faults` each at every point.

/** A sample, or everything in a complete run. */
export function chosen<T>(all: readonly T[], few: readonly NoInfer<T>[]): readonly T[] {
  return process.env.BERTH_FAULTS === 'all' ? all : few
}
