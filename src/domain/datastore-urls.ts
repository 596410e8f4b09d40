// Connection strings of datastores. They contain the password, so only those who request them may get them.

export type DatastoreKind = 'postgres' | 'redis'

export interface Credentials {
  username: string
  password: string
  /** Null for Redis. */
  database: string | null
}

const schemes: Record<DatastoreKind, string> = { postgres: 'postgresql', redis: 'redis' }

/** The port inside the container. */
export const datastorePorts: Record<DatastoreKind, number> = { postgres: 5432, redis: 6379 }

/** `postgresql://user:password@host:port/database`, `redis://default:password@host:port`. */
export function connectionString(
  kind: DatastoreKind,
  { username, password, database }: Credentials,
  { host, port }: { host: string; port: number },
): string {
  const who = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  const name = host.includes(':') ? `[${host}]` : host
  return `${schemes[kind]}://${who}@${name}:${port}${database === null ? '' : `/${database}`}`
}

/** The host for clients on this machine: loopback for a port that is bound to all addresses. */
export function externalHost(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1'
  return bind === '::' ? '::1' : bind
}
