// The access lines of HAProxy, read from its ring buffer in memory. The ring starts with the oldest line that
// it still holds, so a reader finds its position by the id of the last line that it read.
import { settleWithin } from '../async/settle-within.ts'
import type { EdgeFiles } from './files.ts'
import { openRuntime, restMs } from './runtime.ts'

export interface AccessMark {
  id: string
  /** The end of its request, in milliseconds since 1970. */
  at: number
}

/** A request as the log format reports it, with the names of pools and slots. */
export interface AccessEvent {
  /** The time when the response was complete, in milliseconds since 1970. */
  at: number
  id: string
  client: string
  host: string
  method: string
  path: string
  protocol: string
  tls: boolean
  status: number
  /** HAProxy's first two letters about the end of the session: `PH`, or `--` if nothing is wrong. */
  end: string
  pool: string
  upstream: string
  in: number
  out: number
  ms: number
  /** The part of `ms` for the body of the response; -1 without a body. */
  data: number
  agent: string
}

/** After this time without a line, the ring's old content has arrived; it arrives with pauses in between. */
const lullMs = 4 * restMs

/** Yields the lines after `after`; if the ring lost it, those that ended later. Throws `edge_unavailable`. */
export async function* readAccess(
  files: EdgeFiles,
  after: AccessMark | null,
  signal: AbortSignal,
): AsyncGenerator<AccessEvent[]> {
  const startedAt = Date.now()
  const batches = openRuntime(files.adminSocket).lines('show events access -w', signal)
  // Until that line is found, or the old content has arrived: all of it may be new.
  let buffered: AccessEvent[] | null = after === null ? null : []
  for (let next = batches.next(); ; ) {
    const found = buffered === null ? await next : await settleWithin(next, lullMs, null)
    if (found?.done) break
    const events = found === null ? [] : found.value.map(parseAccess).filter((event) => event !== null)
    if (found !== null) next = batches.next()
    if (buffered === null) {
      yield events
      continue
    }
    buffered.push(...events)
    const index = buffered.findIndex(({ id }) => id === after!.id)
    const isCaughtUp = found === null || index >= 0 || events.some(({ at }) => at > startedAt)
    if (!isCaughtUp) continue
    yield index >= 0 ? buffered.slice(index + 1) : endedAfter(buffered, after!)
    buffered = null
  }
  if (buffered !== null) yield endedAfter(buffered, after!)
}

/** For a line of another ring: while two edges run, each has its own. */
function endedAfter(events: AccessEvent[], { at }: AccessMark): AccessEvent[] {
  return events.filter((event) => event.at > at)
}

/** Null for a truncated line. */
export function parseAccess(line: string): AccessEvent | null {
  const start = line.indexOf('{')
  if (start < 0) return null
  try {
    return JSON.parse(line.slice(start)) as AccessEvent
  } catch {
    return null
  }
}
