// Converts the requested rights of a token: role, services and expiry.
import type { Storage } from '../../../storage/index.ts'
import type { Grant } from '../../account/api-tokens.ts'
import type { CreateToken } from '../../api/access/token.ts'
import { invalidField } from '../../errors.ts'

/** Throws `invalid_request` for an unknown service, and for an admin token that is limited to services. */
export function toGrant(storage: Storage, requested: Omit<CreateToken, 'name'>): Grant {
  const { role, services, expires_in_days: expiresInDays = null } = requested
  if (services === undefined) return { role, services: null, expiresInDays }
  if (role === 'admin') throw invalidField('services', 'an admin token cannot be limited to services')
  const ids = services.map((idOrName) => {
    const row = storage.services.get(idOrName)
    if (!row) throw invalidField('services', `there is no service ${idOrName}`)
    return row.id
  })
  return { role, services: [...new Set(ids)], expiresInDays }
}
