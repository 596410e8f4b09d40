// The stored log of one service and the read position of each container. A note next to the log stores the
// positions at some line, and the lines after it complete them. However the daemon dies, exactly the stored
// lines count as read.
import { type LogLine, type Logs, lastNumberOf } from '../../../storage/log/logs.ts'
import { sleep } from '../../async/sleep.ts'
import { createLogCursor, type LogCursor } from '../../docker/logs/instance-log.ts'
import { type TimedLine, toLogLine } from '../../docker/logs/log-frames.ts'

/** A container of a service, identified by deploy and instance. */
export interface LogWriter {
  deployId: string
  index: number
}

export interface CollectedLog {
  cursor(writer: LogWriter): LogCursor
  /** Stores a line. Resolves immediately, unless too many lines wait for the disk. */
  append(writer: LogWriter, line: TimedLine, signal: AbortSignal): Promise<void>
  /** Removes the read positions of all other containers, which no longer exist. */
  retain(writers: LogWriter[]): void
  /** Writes the note, unless it is unchanged. */
  save(): Promise<void>
}

interface Note {
  upTo: number
  places: Record<string, string[]>
}

/** The most lines that are read again at the start. */
const linesBetweenNotes = 4000
const maxPendingBytes = 1024 * 1024
const fullDiskPauseMs = 500
const wholeMilliseconds = '2000-01-01T00:00:00.000'.length

export async function openCollectedLog(logs: Logs, serviceId: string): Promise<CollectedLog> {
  const cursors = await readCursors(logs, serviceId)
  let unsavedLines = 0

  function cursor(writer: LogWriter): LogCursor {
    const found = cursors.get(keyOf(writer)) ?? createLogCursor()
    cursors.set(keyOf(writer), found)
    return found
  }

  async function save(): Promise<void> {
    if (unsavedLines === 0) return
    unsavedLines = 0
    const known = [...cursors].map(([key, { times }]) => [key, times()])
    // Lines that are not written yet come after the note, and count twice: in the note and as lines.
    const note: Note = { upTo: logs.head(serviceId), places: Object.fromEntries(known) }
    await logs.writeNote(serviceId, JSON.stringify(note))
  }

  return {
    cursor,
    async append(writer, line, signal) {
      const { ts, ...said } = toLogLine(line)
      logs.append(serviceId, said.stream, said.line, ts, aboutOf(writer, line))
      unsavedLines += 1
      if (unsavedLines >= linesBetweenNotes) await save()
      if (logs.waitingBytes(serviceId) > maxPendingBytes) await waitForRoom(logs, serviceId, signal)
    },
    retain(writers) {
      const writerKeys = new Set(writers.map(keyOf))
      for (const key of cursors.keys()) if (!writerKeys.has(key)) cursors.delete(key)
    },
    save,
  }
}

async function readCursors(logs: Logs, serviceId: string): Promise<Map<string, LogCursor>> {
  const head = logs.head(serviceId)
  const note = parseNote(await logs.readNote(serviceId)) ?? {
    upTo: Math.max(0, head - linesBetweenNotes),
    places: {},
  }
  const places = new Map(Object.entries(note.places).map(([key, times]) => [key, createLogCursor(times)]))
  for (const cursor of places.values()) cursor.reopen()
  let at = note.upTo
  for (
    let batch = await logs.batchAfter(serviceId, at);
    batch;
    batch = await logs.batchAfter(serviceId, at)
  ) {
    for (const line of batch.lines) addLine(places, line)
    at = lastNumberOf(batch)
  }
  return places
}

function addLine(places: Map<string, LogCursor>, { ts, about }: LogLine): void {
  const { deploy_id: deployId, instance, nano } = about ?? {}
  if (typeof deployId !== 'string' || typeof nano !== 'string') return
  const key = keyOf({ deployId, index: Number(instance) })
  const cursor = places.get(key) ?? createLogCursor()
  places.set(key, cursor)
  cursor.admits(`${ts.slice(0, -1)}${nano}Z`)
}

function aboutOf({ deployId, index }: LogWriter, { time }: TimedLine) {
  return { instance: String(index), deploy_id: deployId, nano: time.slice(wholeMilliseconds, -1) }
}

function keyOf({ deployId, index }: LogWriter): string {
  return `${deployId}/${index}`
}

/** Null if the note is missing or invalid: then the last lines are used instead. */
function parseNote(text: string | null): Note | null {
  if (text === null) return null
  try {
    return JSON.parse(text) as Note
  } catch {
    return null
  }
}

/** Without this wait, a fast reader would fill the memory. Docker keeps what has not been read. */
async function waitForRoom(logs: Logs, serviceId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    await logs.flush(serviceId)
    if (logs.waitingBytes(serviceId) <= maxPendingBytes || signal.aborted) return
    await sleep(fullDiskPauseMs, signal).catch(() => {})
  }
}
