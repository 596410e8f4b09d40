// Seeded random choices: the same seed gives the same choices, but their timing depends on the machine.

export interface Chance {
  /** A number from `least` up to, but not including, `most`. */
  between(least: number, most: number): number
  /** An integer, both ends included. */
  whole(least: number, most: number): number
  isTrue(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** A key, with a probability proportional to its weight. */
  choose<K extends string>(weights: Record<K, number>): K
  /** An independent sequence, so that one user's delays do not change another's choices. */
  fork(): Chance
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0

  // mulberry32
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const chance: Chance = {
    between: (least, most) => least + next() * (most - least),
    whole: (least, most) => least + Math.floor(next() * (most - least + 1)),
    isTrue: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)]!,
    choose(weights) {
      const entries = Object.entries<number>(weights) as [keyof typeof weights, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        left -= weight
        if (left < 0) return key
      }
      return entries[0]![0]
    },
    fork: () => createChance(Math.floor(next() * 2 ** 32)),
  }
  return chance
}
