// The change feed: what changed, never what it holds.
import type { Change } from '../../../storage/changes.ts'
import { reachesService } from '../../account/rights.ts'
import type { Call, Events } from '../route.ts'
import { changeEvents } from '../sse.ts'

/** A token that is limited to services gets their changes only. */
export function followChanges({ context, caller, lastEventId }: Call): Events {
  const isShown = ({ service_id }: Change) => reachesService(caller, service_id)
  return changeEvents(context.storage.changes, lastEventId, isShown)
}
