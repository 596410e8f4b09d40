// Changes the settings of a service: read, checked and written in one transaction, which also stores
// the response.
import { isDeepStrictEqual } from 'node:util'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Call } from '../pipeline/route.ts'
import { assertNotDeleting, toService } from '../records/service-record.ts'
import { assertHostsFree } from './host-claims.ts'

interface ChangeOptions {
  /** What belongs to the same transaction. */
  also?: () => void
  /** Something else changes, which is not in the row. */
  isForced?: boolean
  /** What a repeated request gets; without it the service. */
  answer?: (row: ServiceRow) => unknown
}

/**
 * A repeated request finds the response that was stored here. Throws `conflict` for a host of
 * another service.
 */
export function changeService(
  { context, eventId }: Call,
  id: string,
  change: (row: ServiceRow) => ServiceRow,
  { also, isForced = false, answer = (row) => toService(context, row) }: ChangeOptions = {},
): Promise<ServiceRow> {
  const event = { id: eventId ?? '', answer: null as unknown }
  const applyChange = (row: ServiceRow) => {
    assertNotDeleting(row)
    const wanted = change(row)
    const isSame = !isForced && isDeepStrictEqual({ ...wanted, updated_at: row.updated_at }, row)
    // The store increments the same way, but only after this response is recorded.
    const changed = isSame ? row : { ...wanted, revision: row.revision + 1 }
    assertHostsFree(context, changed, row)
    event.answer = answer(changed)
    return changed
  }
  return context.storage.services.update(id, applyChange, {
    ...(also ? { also } : {}),
    ...(eventId ? { event } : {}),
  })
}
