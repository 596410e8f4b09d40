// The newest batches of one log, in memory. Every follower that is up to date gets the same Batch object, so
// they can share its encoding.
import { type Batch, lastNumberOf, missingLine } from './log-line.ts'

export interface LogRing {
  push(batch: Batch, sizeBytes: number): void
  /** The batch that begins after line `number`; null when the ring does not hold that line. */
  after(number: number): Batch | null
  /** The next batch in the ring after line `number`, with a first line about the missing lines before it. */
  beyond(number: number): Batch | null
  clear(): void
}

/** Holds the newest batch, and older ones within the limits. */
export function createLogRing(limits: { lines: number; bytes: number }): LogRing {
  let batches: Batch[] = []
  let sizes: number[] = []
  let lines = 0
  let bytes = 0

  function dropOldest(): void {
    lines -= batches.shift()?.lines.length ?? 0
    bytes -= sizes.shift() ?? 0
  }

  return {
    push(batch, sizeBytes) {
      batches.push(batch)
      sizes.push(sizeBytes)
      lines += batch.lines.length
      bytes += sizeBytes
      while (batches.length > 1 && (lines > limits.lines || bytes > limits.bytes)) dropOldest()
    },
    after(number) {
      const batch = batchWith(batches, number + 1)
      if (batch === null || batch.first === number + 1) return batch
      return { first: number + 1, lines: batch.lines.slice(number + 1 - batch.first) }
    },
    beyond(number) {
      const batch = batches.find(({ first }) => first > number + 1)
      const [line] = batch?.lines ?? []
      if (batch === undefined || line === undefined) return null
      const notice = missingLine(number + 1, batch.first - 1, line.ts)
      return { first: batch.first - 1, lines: [notice, ...batch.lines] }
    },
    clear() {
      batches = []
      sizes = []
      lines = bytes = 0
    },
  }
}

/** A binary search that starts with the newest batch, because most followers wait for that one. */
function batchWith(batches: Batch[], number: number): Batch | null {
  let low = 0
  let high = batches.length - 1
  let middle = high
  while (low <= high) {
    const batch = batches[middle]
    if (batch === undefined) return null
    if (number < batch.first) high = middle - 1
    else if (number > lastNumberOf(batch)) low = middle + 1
    else return batch
    middle = (low + high) >> 1
  }
  return null
}
