// How much is tried: `npm test` tries each kind of fault, `npm run faults` every one at every moment.

/** A choice, or all in a complete run. */
export function chosen<T>(all: readonly T[], few: readonly NoInfer<T>[]): readonly T[] {
  return process.env.BERTH_FAULTS === 'all' ? all : few
}
