// The change feed: what changed, never what it holds.
import { reachesService } from '../../account/rights.ts'
import { toFeedChange } from '../feed-change.ts'
import type { Call, Events } from '../route.ts'
import { changeEvents } from '../sse.ts'

/** A token that is limited to services gets their changes only. */
export function followChanges({ context: { storage }, caller, lastEventId }: Call): Events {
  return changeEvents(storage.changes, {
    after: lastEventId,
    isShown: ({ service_id }) => reachesService(caller, service_id),
    show: (change) => toFeedChange(storage, change),
  })
}
