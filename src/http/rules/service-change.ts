// Changes the settings of a service in one transaction: reads the row, checks and writes it, and stores the
// response for repeated requests.
import { isDeepStrictEqual } from 'node:util'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Call } from '../pipeline/route.ts'
import { assertNotDeleting, toService } from '../records/service-record.ts'
import { assertHostsFree } from './host-claims.ts'

interface ChangeOptions {
  also?: () => void
  /** Increments the revision even if the row is unchanged, because `also` changes something. */
  isForced?: boolean
  /** The response to a repeated request; the service by default. */
  response?: (row: ServiceRow) => unknown
}

/** Throws `conflict` for a host of another service, and for a service that is being deleted. */
export function changeService(
  { context, eventId }: Call,
  id: string,
  change: (row: ServiceRow) => ServiceRow,
  { also, isForced = false, response: answer = (row) => toService(context, row) }: ChangeOptions = {},
): Promise<ServiceRow> {
  const event = { id: eventId ?? '', answer: null as unknown }
  const applyChange = (row: ServiceRow) => {
    assertNotDeleting(row)
    const wanted = change(row)
    const isSame = !isForced && isDeepStrictEqual({ ...wanted, updated_at: row.updated_at }, row)
    // The store increments the revision as well, but only after this response is recorded.
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
