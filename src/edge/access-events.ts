// The access lines of HAProxy as they come, from its ring in memory.
// Mind: a ring begins with what is still in it; where the reader was is known by the id of its last line.
import type { Place } from './place.ts'
import { openRuntime } from './runtime.ts'

/** A request as the log format tells it: pools and slots by their names. */
export interface AccessEvent {
  /** Milliseconds since 1970, when the answer was complete. */
  at: number
  id: string
  client: string
  host: string
  method: string
  path: string
  protocol: string
  tls: boolean
  status: number
  pool: string
  upstream: string
  in: number
  out: number
  ms: number
  agent: string
}

/** How long the ring's old content may take to come: what is after it is new. */
const replayMs = 300

/**
 * Every line after the one with the id `after`, and on until HAProxy ends or `signal` does. Where that line
 * is not in the ring any more, all that is in it. Throws `edge_unavailable` when nobody answers.
 */
export async function* readAccess(
  place: Place,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<AccessEvent> {
  const lines = openRuntime(place.adminSocket).lines('show events access -w', signal)
  let held: AccessEvent[] | null = after === null ? null : []
  const replayedAt = Date.now() + replayMs
  for await (const line of lines) {
    const event = parseAccess(line)
    if (!event) continue
    if (held === null) yield event
    else if (event.id === after) held = null
    else if (Date.now() < replayedAt && event.at < replayedAt) held.push(event)
    else {
      yield* held
      held = null
      yield event
    }
  }
  yield* held ?? []
}

/** null for a line that was cut. */
export function parseAccess(line: string): AccessEvent | null {
  const start = line.indexOf('{')
  if (start < 0) return null
  try {
    return JSON.parse(line.slice(start)) as AccessEvent
  } catch {
    return null
  }
}
