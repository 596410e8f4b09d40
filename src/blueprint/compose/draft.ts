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
  env: Map<string, string>
  /** Keys whose values do not belong into a file. */
  secrets: Set<string>
  /** Those of them that stand in the Compose file itself. */
  suspects: Set<string>
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
  /** Whether it is private only because it looks so. */
  isSuspect: boolean
}

const passwordInAddress = /:\/\/[^/\s:@]*:(?!\$\{\{|\d+\/)[^\s@]+@/
const passwordInWords = /(pass|passwd|password|secret|token|api-?key)[= ]+['"]?(?!\$)[^\s'"]/i

/** Such as `postgres://ada:x@host` and `run --token=x`, but not `--token=$TOKEN`. */
export function hasPassword(text: string): boolean {
  return passwordInAddress.test(text) || passwordInWords.test(text)
}

export function looksSecret(key: string, value: string): boolean {
  const isNamed = /(PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|SECRET|TOKEN|CREDENTIALS?|KEY|KEY_BASE)$/i.test(key)
  const isPlain = /^(true|false|yes|no|\d?)$/i.test(value) || /PUBLIC/i.test(key)
  return (isNamed && !isPlain) || hasPassword(value)
}

export function listOf(value: unknown): unknown[] {
  if (value === undefined || value === '') return []
  return Array.isArray(value) ? value : [value]
}
