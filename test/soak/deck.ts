// Deals cards in random order, each once before any repeats, so that even a short run has every kind.
import type { Chance } from '../crash/random.ts'

export function createDeck<T>(chance: Chance, cards: readonly T[]): () => T {
  let left: T[] = []
  return () => {
    if (left.length === 0) left = [...cards]
    return left.splice(chance.whole(0, left.length - 1), 1)[0]!
  }
}
