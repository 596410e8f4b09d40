// How a datastore is reached: the connection strings of its two kinds, and which port it has inside.
// They hold the password. They go out where a person or a service asks for them, and nowhere else.

export type DatastoreKind = 'postgres' | 'redis'

export interface Credentials {
  username: string
  password: string
  /** null for Redis. */
  database: string | null
}

const schemes: Record<DatastoreKind, string> = { postgres: 'postgresql', redis: 'redis' }

/** Inside its container. */
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

/** Where a client on the host reaches what is bound to `bind`: what is bound everywhere by loopback. */
export function externalHost(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1'
  return bind === '::' ? '::1' : bind
}
