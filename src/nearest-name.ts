// Finds the existing name that a misspelled one most likely meant.

/** The number of wrong letters that is tolerated; a short name tolerates fewer. */
const maxMistakes = 2

/** `did you mean 'shop'?`, as the hint of an error; undefined without a similar name. */
export function suggestion(wanted: string, names: Iterable<string>): string | undefined {
  const nearestName = nearest(wanted, names)
  return nearestName === null ? undefined : `did you mean '${nearestName}'?`
}

/** The name with the fewest mistakes; null if all have too many. */
export function nearest(wanted: string, names: Iterable<string>): string | null {
  const tolerated = Math.min(maxMistakes, Math.floor(wanted.length / 2))
  let best: { name: string; mistakes: number } | null = null
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > tolerated) continue
    const mistakes = mistakesBetween(wanted.toLowerCase(), name.toLowerCase())
    if (mistakes <= tolerated && mistakes < (best?.mistakes ?? Number.POSITIVE_INFINITY)) {
      best = { name, mistakes }
    }
  }
  return best?.name ?? null
}

/** Counts letters that are missing, surplus, wrong, or swapped with their neighbour. */
function mistakesBetween(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped && row > 1 ? beforeLast[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return last[other.length]!
}
