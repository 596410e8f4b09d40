// The rights of a caller, and the services it can access. Sessions and admin tokens are not limited.
import type { TokenRole } from '../../storage/access/hashed-tokens.ts'
import type { Caller } from './callers.ts'

/** In ascending order: each role includes the rights of the previous ones. */
export const tokenRoles = ['read', 'deploy', 'admin'] as const satisfies readonly TokenRole[]

type Rights = Pick<Caller, 'role' | 'services'>

/** A role that this version does not know has no rights. */
export function hasRole({ role }: Pick<Caller, 'role'>, needed: TokenRole): boolean {
  return tokenRoles.indexOf(role) >= tokenRoles.indexOf(needed)
}

export function reachesService(caller: Rights | null, serviceId: string | null | undefined): boolean {
  if (!caller) return false
  return caller.services === null || (typeof serviceId === 'string' && caller.services.includes(serviceId))
}

/** Whether responses to the caller contain secret values: env values, passwords, URLs with passwords. */
export function readsSecrets(caller: Rights | null): boolean {
  return caller !== null && hasRole(caller, 'admin')
}
