// A service of a Compose file on its way into a blueprint.

export interface Draft {
  /** As in the Compose file. */
  original: string
  /** Under which others of the Compose file reach it. */
  hosts: string[]
  name: string
  kind: 'service' | 'postgres' | 'redis'
  /** Under the names of the blueprint. */
  fields: Record<string, unknown>
  env: Map<string, Variable>
  /** Names of services that it depends on. */
  needs: Set<string>
  /** Names of services whose end it waits for. */
  waits: Set<string>
  /** Whether Compose publishes it on all addresses; else whether another service needs it. */
  isPublic: boolean
  isPrivate: boolean
  /** What the Compose file sets for a datastore. */
  login: Partial<Record<LoginPart, Pick<Variable, 'value' | 'source'>>>
}

export type LoginPart = 'user' | 'password' | 'database'

export interface Variable {
  key: string
  /** Empty if it is unknown. */
  value: string
  /** Whether Compose takes it from a shell, or it has a variable that nothing sets. */
  isUnknown: boolean
  /** Whether it does not belong into a blueprint. */
  isSecret: boolean
  /** Whether that is only because it looks secret. */
  isSuspect: boolean
  /** The variable that the whole value is: `.env:DB_PASSWORD`. */
  source: string | null
}

export function listOf(value: unknown): unknown[] {
  if (value === undefined || value === '') return []
  return Array.isArray(value) ? value : [value]
}
