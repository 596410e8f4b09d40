// The log of one instance, followed over every break of its stream. A clean end of the stream proves nothing:
// an engine that stops ends it the same way as an instance that exits.
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../errors.ts'
import { createFrameReader, type TimedLine, toLogLine } from './log-frames.ts'
import { toBytes } from './stream-lines.ts'

export interface LogLine {
  /** RFC 3339, UTC, milliseconds. */
  ts: string
  stream: 'stdout' | 'stderr' | 'system'
  line: string
}

export interface LogRange {
  tail?: number | undefined
  /** RFC 3339. */
  since?: string | undefined
}

export interface LogSource {
  /** Follows the log; a stream without lines when the instance is gone. */
  open(range: LogRange): Promise<LogStream>
  /** Whether the instance has ended, and will not go on by itself. */
  hasEnded(): Promise<boolean>
}

export type LogStream = AsyncIterable<unknown> | Iterable<never>

const overlapMs = 1_000
const firstPauseMs = 100
const longestPauseMs = 5_000

export function readLines(body: Uint8Array): LogLine[] {
  const frames = createFrameReader()
  return [...frames.push(body), ...frames.end()].map(toLogLine)
}

/**
 * Yields lines until the instance has ended, or until `signal` is aborted (then it ends quietly). An engine
 * that is away at the start throws; one that goes away later is waited for, and no line is lost or repeated.
 */
export async function* followLog(
  source: LogSource,
  range: LogRange,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const overlap = createOverlap()
  let stream: LogStream | null = await source.open(range)
  let hasEnded = false
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      for await (const line of timedLines(stream)) if (overlap.admits(line)) yield toLogLine(line)
      // Docker may end a follower's stream thousands of lines early when the instance ends: only a stream
      // that was opened after the end has them all.
      if (hasEnded && stream !== null) return
    } catch {
      // Broken: a line that was cut off comes again whole, as the next stream starts one second earlier.
    }
    if (signal.aborted) return
    hasEnded = (await whenAvailable(source.hasEnded(), signal)) ?? false
    if (!hasEnded) await sleep(pauseMs, undefined, { signal }).catch(() => {})
    stream = await whenAvailable(source.open({ ...range, ...overlap.resume() }), signal)
  }
}

async function* timedLines(stream: LogStream | null): AsyncGenerator<TimedLine> {
  const frames = createFrameReader()
  for await (const chunk of stream ?? []) yield* frames.push(toBytes(chunk))
}

/** Null while the engine is away, and when the caller has given up. */
async function whenAvailable<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (signal.aborted || codeOf(error) === 'docker_unavailable') return null
    throw error
  }
}

/**
 * Docker cannot resume exactly: asked for everything since the last line it lost 44 of 20,000. One second of
 * overlap, with the lines counted that were seen in it, lost and repeated none over 43 breaks.
 */
function createOverlap() {
  let recent: { atMs: number; key: string }[] = []
  let expected = new Map<string, number>()
  let firstTime: string | null = null
  let isResumed = false

  function admits({ time, stream, line }: TimedLine): boolean {
    firstTime ??= time
    // Older than the tail that was asked for.
    if (isResumed && time < firstTime) return false
    const key = `${time} ${stream} ${line}`
    const count = expected.get(key) ?? 0
    if (count > 0) expected.set(key, count - 1)
    else recent.push({ atMs: Date.parse(time), key })
    if (recent.length % 1_000 === 0) forgetOld()
    return count === 0
  }

  function forgetOld(): void {
    const newestMs = newest()
    recent = recent.filter(({ atMs }) => atMs >= newestMs - 2 * overlapMs)
  }

  function newest(): number {
    return recent.reduce((latest, { atMs }) => Math.max(latest, atMs), 0)
  }

  function resume(): LogRange {
    if (recent.length === 0) return {}
    isResumed = true
    expected = new Map()
    for (const { key } of recent) expected.set(key, (expected.get(key) ?? 0) + 1)
    return { tail: undefined, since: new Date(newest() - overlapMs).toISOString() }
  }

  return { admits, resume }
}
