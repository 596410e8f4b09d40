// Server-sent events: logs and the change feed. Nothing is written while the socket of a reader is blocked.
import type { Batch, LogLine, Logs } from '../../../storage/log/logs.ts'
import type { Change, ChangeFeed } from '../../../storage/store/changes.ts'
import type { EventStream } from '../server/event-stream.ts'
import { Events } from './route.ts'

type LogSource = Pick<Logs, 'head' | 'isEnded' | 'batchAfter' | 'watch'>

const retry = 'retry: 1000\n\n'
// Browsers dispatch an event only when it has a data line.
const end = 'event: end\ndata: \n\n'
const frameLimitChars = 64 * 1024

type Show = (line: LogLine) => object

const showLine: Show = ({ ts, stream, line }) => ({ ts, stream, line })

interface FollowOptions {
  follow: boolean
  /** The number of the last line that the reader has; 0 for none. */
  after: number
  /** At most so many lines. */
  limit?: number | undefined
  show?: Show
  /** The log never ends, so a read without `follow` always sends `end`. */
  isEndless?: true
  onError: (error: unknown) => void
}

/** How a log is written. */
interface Form {
  start: string
  line(number: number, line: LogLine): string
  end: string
}

/** The log with this id: stored lines, and with `follow` new ones until it ends. */
export function logEvents(logs: LogSource, id: string, options: FollowOptions): Events {
  const { show = showLine } = options
  const form: Form = {
    start: retry,
    line: (number, line) => `id: ${number}\nevent: log\ndata: ${JSON.stringify(show(line))}\n\n`,
    end,
  }
  return new Events((stream) => startLog(logs, id, options, form, stream))
}

/** The stored lines of the log with this id, as a text file. */
export function logText(logs: LogSource, id: string, options: Omit<FollowOptions, 'follow'>): Events {
  const form: Form = { start: '', line: (_, { ts, line }) => `${ts} ${line}\n`, end: '' }
  return new Events((stream) => startLog(logs, id, { ...options, follow: false }, form, stream), `${id}.log`)
}

function startLog(
  logs: LogSource,
  id: string,
  options: FollowOptions,
  form: Form,
  stream: EventStream,
): void {
  if (form.start) stream.write(form.start)
  const follower = followLog(logs, id, options, form, stream)
  stream.onWritable(follower)
  if (options.follow) stream.onClose(logs.watch(id, follower))
  follower()
}

interface ChangeOptions {
  /** The payload of `ready`. */
  ready: object
  /** The last change that the reader has. Without it, the stream starts with the next change. */
  after: number | undefined
  isShown: (change: Change) => boolean
  /** As JSON. */
  show: (change: Change) => string
}

export function changeEvents(changes: ChangeFeed, { ready, after, isShown, show }: ChangeOptions): Events {
  return new Events((stream) => {
    let cursor = after ?? changes.head()
    stream.write(`${retry}id: ${cursor}\nevent: ready\ndata: ${JSON.stringify(ready)}\n\n`)

    function send(change: Change): void {
      cursor = change.number
      if (!isShown(change)) return
      stream.write(`id: ${change.number}\nevent: change\ndata: ${show(change)}\n\n`)
    }
    function catchUp(): void {
      if (!stream.isWritable()) return
      const missed = changes.since(cursor)
      if (missed === null) {
        cursor = changes.head()
        stream.write(`id: ${cursor}\nevent: reset\ndata: {}\n\n`)
        return
      }
      for (const change of missed) if (stream.isWritable()) send(change)
    }
    stream.onWritable(catchUp)
    stream.onClose(
      changes.subscribe((change) => {
        if (!stream.isWritable() || change.number <= cursor) return
        if (change.number === cursor + 1) send(change)
        else catchUp()
      }),
    )
    catchUp()
  })
}

/** Returns a function that writes available lines while the socket accepts them. Call it at any time. */
function followLog(
  logs: LogSource,
  id: string,
  { follow, after, limit = Number.POSITIVE_INFINITY, isEndless, onError }: FollowOptions,
  form: Form,
  stream: EventStream,
): () => void {
  // Without `follow`, an unfinished log is read up to its current head and gets no `end` event.
  const isToEnd = follow || logs.isEnded(id)
  const lastWanted = isToEnd ? Number.POSITIVE_INFINITY : logs.head(id)
  let cursor = Math.min(after, logs.head(id))
  let left = limit

  /** Returns false if nothing can be written now. */
  async function writeNext(): Promise<boolean> {
    // Checked before reading lines: if the log ends in the meantime, it is read again.
    const isEnded = logs.isEnded(id)
    const isWanted = left > 0 && cursor < lastWanted
    const batch = isWanted ? await logs.batchAfter(id, cursor) : null
    for (const { last, text, count } of batch ? framesAfter(batch, cursor, left, form) : []) {
      if (!stream.isWritable()) return false
      stream.write(text)
      cursor = last
      left -= count
    }
    if (batch) return true
    if (!stream.isWritable() || (follow && !isEnded && left > 0)) return false
    const isComplete = isToEnd && isEnded && (left > 0 || cursor >= logs.head(id))
    if (form.end && (isComplete || isEndless)) stream.write(form.end)
    stream.end()
    return false
  }

  return createPump(stream, writeNext, onError)
}

/** Repeats `step` while it returns true. A call during a step schedules another one. */
function createPump(stream: EventStream, step: () => Promise<boolean>, onError: (error: unknown) => void) {
  let isPumping = false
  let isRequested = false

  async function pump(): Promise<void> {
    isPumping = true
    try {
      while (isRequested) {
        isRequested = false
        while (stream.isWritable() && (await step())) {}
      }
    } catch (error) {
      onError(error)
      stream.end()
    } finally {
      isPumping = false
    }
  }

  return () => {
    isRequested = true
    if (!isPumping) void pump()
  }
}

/** Frames of bounded size, because a blocked socket buffers one. */
function* framesAfter({ first, lines }: Batch, cursor: number, limit: number, form: Form) {
  const start = Math.max(0, cursor + 1 - first)
  const wanted = lines.slice(start, start + limit)
  let frame = { text: '', count: 0 }
  for (const [index, line] of wanted.entries()) {
    const last = first + start + index
    frame = { text: frame.text + form.line(last, line), count: frame.count + 1 }
    if (frame.text.length < frameLimitChars && index < wanted.length - 1) continue
    yield { last, ...frame }
    frame = { text: '', count: 0 }
  }
}
