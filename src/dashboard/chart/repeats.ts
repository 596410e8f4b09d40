// Finds repetitions in a list, such as an actor that fails and starts over: they are shown once and counted.

export interface Repeat<Item> {
  /** Every repetition, in order. */
  items: Item[]
  /** How many items one repetition has. */
  length: number
  count: number
}

const longestCycle = 5
/** Two equal items after each other are a repetition; a longer cycle is one from its third time on. */
const minCount = (length: number) => (length === 1 ? 2 : 3)

export function toRepeats<Item>(items: readonly Item[], keyOf: (item: Item) => string): Repeat<Item>[] {
  const keys = items.map(keyOf)
  const repeats: Repeat<Item>[] = []
  for (let start = 0; start < items.length; ) {
    const { length, count } = cycleAt(keys, start)
    repeats.push({ items: items.slice(start, start + length * count), length, count })
    start += length * count
  }
  return repeats
}

/** The cycle that covers most. */
function cycleAt(keys: string[], start: number): { length: number; count: number } {
  let best = { length: 1, count: 1 }
  for (let length = 1; length <= longestCycle; length++) {
    let end = start + length
    while (end < keys.length && keys[end] === keys[end - length]) end++
    const count = Math.floor((end - start) / length)
    if (count >= minCount(length) && count * length > best.count * best.length) best = { length, count }
  }
  return best
}
