// Lines from the frames of a container's log. Pure. A frame is an 8-byte header (stream, size) and one
// message of at most 16 KiB with its time before it: a long line is several frames, and a frame may be spread
// over several chunks. A line that is overwritten, such as progress, has its last state, as in build logs.
import { lastState } from './output-lines.ts'

export interface LogLine {
  /** RFC 3339, UTC, milliseconds. */
  ts: string
  stream: 'stdout' | 'stderr' | 'system'
  line: string
}

/** A line with the engine's own time, in nanoseconds: what a resumed stream is compared by. */
export interface TimedLine {
  time: string
  stream: 'stdout' | 'stderr'
  line: string
}

export interface FrameReader {
  push(chunk: Uint8Array): TimedLine[]
  /** The last line of each stream, if it had no line break. */
  end(): TimedLine[]
}

/** Longer lines are split, never inside a character. */
const maxLineBytes = 16 * 1024
const headerBytes = 8
const stderrFrame = 2
const lineBreak = 0x0a
const carriageReturn = 0x0d

export function createFrameReader(): FrameReader {
  const stdout = createLineJoiner('stdout')
  const stderr = createLineJoiner('stderr')
  let rest = Buffer.alloc(0)

  function push(chunk: Uint8Array): TimedLine[] {
    rest = Buffer.concat([rest, chunk])
    const lines: TimedLine[] = []
    for (let size = frameSize(rest); size !== null; size = frameSize(rest)) {
      const joiner = rest[0] === stderrFrame ? stderr : stdout
      lines.push(...joiner.push(rest.subarray(headerBytes, size)))
      rest = rest.subarray(size)
    }
    return lines
  }

  return { push, end: () => [...stdout.end(), ...stderr.end()] }
}

export function toLogLine({ time, stream, line }: TimedLine): LogLine {
  return { ts: `${time.slice(0, '2000-01-01T00:00:00.000'.length)}Z`, stream, line }
}

/** The size of the frame at the start of the buffer, null while it is not complete. */
function frameSize(buffer: Buffer): number | null {
  if (buffer.length < headerBytes) return null
  const size = headerBytes + buffer.readUInt32BE(4)
  return size <= buffer.length ? size : null
}

function createLineJoiner(stream: TimedLine['stream']) {
  let pending = Buffer.alloc(0)
  let time = ''

  function take(bytes: number): TimedLine {
    const line = lastState(pending.toString('utf8', 0, bytes))
    pending = pending.subarray(bytes)
    return { time, stream, line }
  }

  function* push(message: Buffer): Generator<TimedLine> {
    const blank = message.indexOf(' ')
    if (pending.length === 0) time = message.toString('latin1', 0, blank)
    pending = Buffer.concat([pending, message.subarray(blank + 1)])
    const isComplete = pending.at(-1) === lineBreak
    if (isComplete) pending = pending.subarray(0, -1)
    if (pending.length > maxLineBytes) pending = pending.subarray(newestState(pending))
    while (pending.length > maxLineBytes) yield take(characterStart(pending, maxLineBytes))
    if (isComplete) yield take(pending.length)
  }

  return { push, end: () => (pending.length > 0 ? [take(pending.length)] : []) }
}

/** The position after the last return. A return at the end may belong to a line break. */
function newestState(text: Buffer): number {
  return text.lastIndexOf(carriageReturn, -2) + 1
}

/** The last position at or before `offset` at which a character starts. */
function characterStart(text: Buffer, offset: number): number {
  const isInsideCharacter = (at: number) => ((text[at] ?? 0) & 0xc0) === 0x80
  const start = [0, 1, 2, 3].map((back) => offset - back).find((at) => !isInsideCharacter(at))
  return start ?? offset
}
