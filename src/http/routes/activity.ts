// The activity: what the actors of the server did, newest first.
import { z } from 'zod'
import { reachesService } from '../../account/rights.ts'
import { Activity, ActivityQuery } from '../../api/activity.ts'
import { type Call, get, tagged, type WithHeaders } from '../pipeline/route.ts'
import { ownerOf, paged } from '../records/paging.ts'

export const activityRoutes = tagged('Actors', [
  get('/activity', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the transitions of all actors, newest first: the newest 50,000, for 90 days',
    description:
      'They have the numbers of the change feed, and outlive their actors. Terminal logins that are not ' +
      'decided are left out. A page of a filter that matches little may be shorter than its limit, or ' +
      'empty, and still have a next one.',
    query: ActivityQuery,
    response: z.array(Activity),
    handler: listActivity,
  }),
])

function listActivity(call: Call<unknown, ActivityQuery>): WithHeaders<Activity[]> {
  const { caller, query } = call
  const { storage } = call.context
  const { kind, limit, before } = query
  const owner = query.service === undefined ? undefined : ownerOf(storage, query.service)
  const { records, next } = storage.activity.page({
    limit,
    before,
    accepts: (entry) =>
      reachesService(caller, entry.service_id) &&
      (kind === undefined || entry.kind === kind) &&
      (owner === undefined || entry.service_id === owner),
  })
  return paged(call, records as Activity[], next === null ? null : String(next))
}
