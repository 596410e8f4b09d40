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
  show?: Show
  /** The log never ends, so a read without `follow` always sends `end`. */
  isEndless?: true
  onError: (error: unknown) => void
}

/** The log with this id: stored lines, and with `follow` new ones until it ends. */
export function logEvents(logs: LogSource, id: string, options: FollowOptions): Events {
  return new Events((stream) => {
    stream.write(retry)
    const follower = followLog(logs, id, options, stream)
    stream.onWritable(follower)
    if (options.follow) stream.onClose(logs.watch(id, follower))
    follower()
  })
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
function followLog(logs: LogSource, id: string, options: FollowOptions, stream: EventStream): () => void {
  const { follow, after, show = showLine, onError } = options
  // Without `follow`, an unfinished log is read up to its current head and gets no `end` event.
  const isToEnd = follow || logs.isEnded(id)
  const isComplete = isToEnd || options.isEndless
  const lastWanted = isToEnd ? Number.POSITIVE_INFINITY : logs.head(id)
  let cursor = Math.min(after, logs.head(id))

  /** Returns false if nothing can be written now. */
  async function writeNext(): Promise<boolean> {
    // Checked before reading lines: if the log ends in the meantime, it is read again.
    const isEnded = logs.isEnded(id)
    const batch = cursor < lastWanted ? await logs.batchAfter(id, cursor) : null
    for (const { last, text } of batch ? framesAfter(batch, cursor, show) : []) {
      if (!stream.isWritable()) return false
      stream.write(text)
      cursor = last
    }
    if (batch) return true
    if (!stream.isWritable() || (follow && !isEnded)) return false
    if (isComplete) stream.write(end)
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
function* framesAfter({ first, lines }: Batch, cursor: number, show: Show) {
  let text = ''
  for (const [index, line] of lines.entries()) {
    const last = first + index
    if (last <= cursor) continue
    text += `id: ${last}\nevent: log\ndata: ${JSON.stringify(show(line))}\n\n`
    if (text.length < frameLimitChars && index < lines.length - 1) continue
    yield { last, text }
    text = ''
  }
}
