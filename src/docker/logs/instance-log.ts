// The log of one instance, followed over every break of its stream. A clean end of the stream proves nothing:
// an engine that stops ends it the same way as an instance that exits.
import { sleep } from '../../async/sleep.ts'
import { codeOf } from '../../errors.ts'
import { toBytes } from '../engine/stream-lines.ts'
import type { LogCursor } from './log-cursor.ts'
import { createFrameReader, type LogLine, type TimedLine, toLogLine } from './log-frames.ts'

export interface LogSource {
  /** Follows the log, from an instant on or from its beginning; without lines when the instance is gone. */
  open(since: string | undefined): Promise<LogStream>
  /** Whether the instance has ended and will not be restarted automatically. */
  hasEnded(): Promise<boolean>
}

export type LogStream = AsyncIterable<unknown> | Iterable<never>

const firstPauseMs = 100
const longestPauseMs = 5_000

export function readLines(body: Uint8Array): LogLine[] {
  const frames = createFrameReader()
  return [...frames.push(body), ...frames.end()].map(toLogLine)
}

/**
 * Yields lines from the given place until the instance has ended or `signal` is aborted, which ends the log
 * without an error. Throws if the engine is unavailable at the start. If the engine becomes unavailable
 * later, the log waits for it, and no line is lost or repeated.
 */
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
