// A service of a Compose file on its way into a blueprint.

export interface Draft {
  /** As in the Compose file, where it is also a host name. */
  original: string
  name: string
  kind: 'service' | 'postgres' | 'redis'
  /** Under the names of the blueprint. */
  fields: Record<string, unknown>
  env: Map<string, string>
  /** Keys whose values do not belong into a file. */
  secrets: Set<string>
  /** Names of services that it depends on. */
  needs: Set<string>
  /** Whether Compose publishes it on all addresses; else whether another service needs it. */
  isPublic: boolean
  isPrivate: boolean
  /** What the Compose file sets for a datastore. */
  login: { username?: string; password?: string; database?: string }
}

export interface Variable {
  key: string
  /** Null if Compose takes it from the shell. */
  value: string | null
  isPrivate: boolean
}

export function listOf(value: unknown): unknown[] {
  if (value === undefined || value === '') return []
  return Array.isArray(value) ? value : [value]
}
