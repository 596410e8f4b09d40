// The history of an actor as moments that a reader can go to, with what lies between them.
import type { HistoryEntry } from '../../api/actor.ts'

export interface Moment {
  entry: HistoryEntry
  at: number
  /** The state before; null for the first. */
  from: string | null
  /** Until the next one; null for the last. */
  durationMs: number | null
  /** The server was started between the moment before and this one. */
  isAfterRestart: boolean
  /** How many transitions before this one are not kept. */
  missing: number
}

export function toMoments(history: HistoryEntry[]): Moment[] {
  return history.map((entry, index) => {
    const [before, next] = [history[index - 1], history[index + 1]]
    const at = Date.parse(entry.at)
    return {
      entry,
      at,
      from: before?.state ?? null,
      durationMs: next ? Math.max(0, Date.parse(next.at) - at) : null,
      isAfterRestart: isRestart(before, entry),
      missing: before ? Math.max(0, entry.revision - before.revision - 1) : entry.revision - 1,
    }
  })
}

/** Entries of older servers have no number of the start. */
function isRestart(before: HistoryEntry | undefined, { boot }: HistoryEntry): boolean {
  return before !== undefined && before.boot !== null && boot !== null && before.boot !== boot
}

/** The moment of an address; the last one if it has none, or if it is not kept. */
export function momentIndex(moments: Moment[], revision: number | undefined): number {
  if (revision === undefined) return moments.length - 1
  const index = moments.findLastIndex(({ entry }) => entry.revision <= revision)
  return Math.max(0, index)
}

interface Span {
  /** From this moment to the next. */
  index: number
  /** Of the width of the ruler, from 0 to 1. */
  share: number
  /** Real time; the wait is drawn shorter. */
  foldedMs: number | null
}

/** In usual steps. */
const longestWait = 10
const foldedWait = 5

/** A ruler of real time between the moments. */
export function toSpans(moments: Moment[]): Span[] {
  const waits = moments.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]))
  const step = Math.max(1, medianOf(waits))
  const isLong = (wait: number) => wait > longestWait * step
  const lengths = waits.map((wait) => (isLong(wait) ? foldedWait * step : wait))
  const total = lengths.reduce((sum, length) => sum + length, 0) || 1
  return waits.map((wait, index) => ({
    index,
    share: lengths[index]! / total,
    foldedMs: isLong(wait) ? wait : null,
  }))
}

function medianOf(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}
