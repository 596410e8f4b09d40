// Pagination: the response is an array with one page, and the `Link` header refers to the next page.
import type { ActorRecord } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { reachesService } from '../../account/rights.ts'
import { notFound } from '../../errors.ts'
import { type Call, type CallById, WithHeaders } from '../pipeline/route.ts'
import { findService } from './service-record.ts'

/** The response with one page. `next` is the `before` parameter of the next page. */
export function paged<Item>(
  { request: { path, query } }: Pick<Call, 'request'>,
  items: Item[],
  next: string | null,
): WithHeaders<Item[]> {
  if (next === null) return new WithHeaders(items, [])
  const params = new URLSearchParams(query)
  // URLs appear in logs, so the token is left out; clients add it again.
  params.delete('access_token')
  params.set('before', next)
  return new WithHeaders(items, [['Link', `<${path}?${params}>; rel="next"`]])
}

export function pageOfService<Item>(
  call: CallById<{ limit: number; before?: string | undefined }>,
  kind: string,
  toItem: (record: ActorRecord) => Item,
): WithHeaders<Item[]> {
  const { storage } = call.context
  const { records, next } = storage.actors.page(kind, [findService(storage, call.params.id).id], call.query)
  return paged(call, records.map(toItem), next)
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

/** Throws `not_found` for an unknown service, and for one outside of the token's scope. */
function servicesOf({ context, caller }: Pick<Call, 'context' | 'caller'>, wanted?: string): string[] {
  const { services } = context.storage
  if (wanted === undefined) {
    return services.list().flatMap(({ id }) => (reachesService(caller, id) ? [id] : []))
  }
  const id = services.get(wanted)?.id
  if (id && reachesService(caller, id)) return [id]
  throw notFound('there is no such service')
}

/** The id of a service or datastore, also of one that is gone. */
export function ownerOf({ services, datastores }: Storage, idOrName: string): string {
  return services.get(idOrName)?.id ?? datastores.idOf(idOrName) ?? idOrName
}
