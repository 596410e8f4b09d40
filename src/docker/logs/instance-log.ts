// The log of one instance, followed over every break of its stream. A clean end of the stream proves nothing:
// an engine that stops ends it the same way as an instance that exits.
import { sleep } from '../../async/sleep.ts'
import { codeOf } from '../../errors.ts'
import { toBytes } from '../engine/stream-lines.ts'
import { createFrameReader, type LogLine, type TimedLine, toLogLine } from './log-frames.ts'

export interface LogSource {
  /** Follows the log, from an instant on or from its beginning; without lines when the instance is gone. */
  open(since: string | undefined): Promise<LogStream>
  /** Whether the instance has ended and will not be restarted automatically. */
  hasEnded(): Promise<boolean>
}

type LogStream = AsyncIterable<unknown> | Iterable<never>

const firstPauseMs = 100
const longestPauseMs = 5_000

export function readLines(body: Uint8Array): LogLine[] {
  const frames = createFrameReader()
  return [...frames.push(body), ...frames.end()].map(toLogLine)
}

/** Until the instance has ended or `signal` is aborted. Throws only if the engine is unavailable at first. */
export async function* followLog(
  source: LogSource,
  place: LogCursor,
  signal: AbortSignal,
): AsyncGenerator<TimedLine> {
  let stream: LogStream | null = await source.open(place.reopen())
  let hasEnded = false
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      for await (const line of timedLines(stream, hasEnded)) if (place.admits(line.time)) yield line
      // Docker may end a follower's stream thousands of lines early when the instance ends: only a stream
      // that was opened after the end has them all.
      if (hasEnded && stream !== null) return
    } catch {
      // Broken: a line that was cut off comes again whole, as the next stream starts a few lines earlier.
    }
    if (signal.aborted) return
    hasEnded = (await whenAvailable(source.hasEnded(), signal)) ?? false
    if (!hasEnded) await sleep(pauseMs, signal).catch(() => {})
    stream = await whenAvailable(source.open(place.reopen()), signal)
  }
}

/** Text without a line break counts as a line only at the end of the stream. */
async function* timedLines(stream: LogStream | null, isComplete: boolean): AsyncGenerator<TimedLine> {
  const frames = createFrameReader()
  for await (const chunk of stream ?? []) yield* frames.push(toBytes(chunk))
  if (isComplete) yield* frames.end()
}

/** Null while the engine is unavailable, and after the caller has aborted. */
async function whenAvailable<T>(response: Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await response
  } catch (error) {
    if (signal.aborted || codeOf(error) === 'docker_unavailable') return null
    throw error
  }
}

// The read position in the log of one container, for resuming at exactly the next line. Docker cannot resume
// exactly: with "since the last line" it lost 44 of 20,000 lines, and lines of stdout and stderr can change
// places. So the last lines are requested again and recognized by their timestamps.

export interface LogCursor {
  /** Whether a line of this time (the engine's own, in nanoseconds) is new; it is remembered then. */
  admits(time: string): boolean
  /** The time from which to request lines when the log is opened or reopened; undefined for the whole log. */
  reopen(): string | undefined
  times(): string[]
}

/** Far more than may be out of order. */
const maxTimes = 64
/** A line that precedes the oldest stored line may be newer than that line by up to this many lines. */
const swappedLines = 8

/** `times` are those of a stored position; empty for a log that was never read. */
export function createLogCursor(times: readonly string[] = []): LogCursor {
  let newest = [...times]
  let isComplete = newest.length < maxTimes
  /** The lines that come again, while they do; all up to `from` were read. */
  let overlap: { expected: Map<string, number>; from: string; upTo: string } | null = null

  function wasRead(time: string): boolean {
    if (overlap === null) return false
    const count = overlap.expected.get(time) ?? 0
    if (count > 0) overlap.expected.set(time, count - 1)
    if (count > 0 || time <= overlap.from) return true
    // The clock may be set back: after the first new line, all later lines count as new.
    if (time > overlap.upTo) overlap = null
    return false
  }

  function remember(time: string): void {
    newest.push(time)
    if (newest.length < 2 * maxTimes) return
    newest = newest.slice(-maxTimes)
    isComplete = false
  }

  function reopen(): string | undefined {
    const from = isComplete ? '' : newest.slice(0, swappedLines).sort().at(-1)!
    const [since, ...later] = [...newest].sort()
    overlap = { expected: countEach(newest), from, upTo: later.at(-1) ?? since ?? '' }
    return isComplete ? undefined : since
  }

  return {
    admits(time) {
      if (wasRead(time)) return false
      remember(time)
      return true
    },
    reopen,
    times: () => newest.slice(-maxTimes),
  }
}

function countEach(times: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1)
  return counts
}
