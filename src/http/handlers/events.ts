// The change feed: the ids of what changed, never the content.
import type { Change } from '../../../storage/store/changes.ts'
import type { Caller } from '../../account/callers.ts'
import { hasRole, reachesService } from '../../account/rights.ts'
import type { Call, Events } from '../pipeline/route.ts'
import { changeEvents } from '../pipeline/sse.ts'
import { toFeedChange } from '../records/feed-change.ts'

/** Their routes need the role `admin`. */
const adminKinds = ['account', 'session', 'token']

/** A token that is limited to services gets their changes only. */
export function followChanges({ context: { storage }, caller, lastEventId }: Call): Events {
  return changeEvents(storage.changes, {
    after: lastEventId,
    isShown: (change) => isShownTo(caller, change),
    show: (change) => toFeedChange(storage, change),
  })
}

function isShownTo(caller: Caller | null, { kind, service_id }: Change): boolean {
  if (!reachesService(caller, service_id)) return false
  return !adminKinds.includes(kind) || hasRole(caller!, 'admin')
}
