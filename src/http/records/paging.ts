// Pagination: the response is the array of one page, and the header `Link` has the next page.

import type { ActorRecord } from '../../../storage/actors/actors.ts'
import { reachesService } from '../../account/rights.ts'
import { Failure } from '../../errors.ts'
import { type Call, WithHeaders } from '../pipeline/route.ts'

/** The answer with one page; `next` is the `before` of the following one. */
export function paged<Item>(
  { request: { path, query } }: Pick<Call, 'request'>,
  items: Item[],
  next: string | null,
): WithHeaders<Item[]> {
  if (next === null) return new WithHeaders(items, [])
  const asked = new URLSearchParams(query)
  // The address ends up in logs; a client that has the token adds it again.
  asked.delete('access_token')
  asked.set('before', next)
  return new WithHeaders(items, [['Link', `<${path}?${asked}>; rel="next"`]])
}

interface Filters {
  limit: number
  before?: string | undefined
  service?: string | undefined
  status?: string | undefined
  trigger?: string | undefined
}

/** A page of all records of a kind that the caller may see. Throws `not_found` for the service. */
export function pageOverServices<Item>(
  call: Call<unknown, Filters>,
  kind: string,
  toItem: (record: ActorRecord) => Item,
): WithHeaders<Item[]> {
  const { service, status, trigger, limit, before } = call.query
  const accepts = (record: { status: string; trigger?: unknown }) =>
    (status ?? record.status) === record.status && (trigger ?? record.trigger) === record.trigger
  const { actors } = call.context.storage
  const { records, next } = actors.page(kind, servicesOf(call, service), { limit, before, accepts })
  return paged(call, records.map(toItem), next)
}

/** For a token, a service outside of its scope does not exist. */
function servicesOf({ context, caller }: Pick<Call, 'context' | 'caller'>, wanted?: string): string[] {
  const { services } = context.storage
  if (wanted === undefined) {
    return services.list().flatMap(({ id }) => (reachesService(caller, id) ? [id] : []))
  }
  const id = services.get(wanted)?.id
  if (id && reachesService(caller, id)) return [id]
  throw new Failure('not_found', 'there is no such service')
}
