// The change feed: what changed, never what it holds.
import type { Call, Events } from '../route.ts'
import { changeEvents } from '../sse.ts'

export function followChanges({ context, lastEventId }: Call): Events {
  return changeEvents(context.storage.changes, lastEventId)
}
