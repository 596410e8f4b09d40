// The differences between the two kinds of datastores: data directory, password, health command. Passwords
// are passed only in the environment, because every user of the host can read arguments.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import type { Command, Outcome } from '../../docker/exec/exec.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'

export interface DatastoreEngine {
  /** The mount path of the volume, which depends on the server's version. */
  mountPath(version: string): string
  env(credentials: Credentials): Record<string, string>
  /** The script for `sh -c` that replaces the image's own command; null to use the image's command. */
  script: string | null
  /** A command that succeeds only if the server is ready for clients. */
  healthCommand(credentials: Credentials): Command
  isHealthy(outcome: Outcome): boolean
  /** Whether the server refuses only because it is still loading its data. */
  isLoading(refusal: string): boolean
  /** The command that gives a running server its new memory limit; null if the server does not need it. */
  limitCommand(credentials: Credentials, memoryMb: number): Command | null
  /** Its interactive client with the user's arguments, without a time limit and without a history file. */
  client(credentials: Credentials, words: readonly string[]): Command
}

/** Clients of a hanging server would wait without limit, and nothing outside the container stops them. */
const probeTimeout = ['timeout', '8']

const postgres: DatastoreEngine = {
  mountPath: (version) =>
    Number.parseInt(version, 10) >= 18 ? '/var/lib/postgresql' : '/var/lib/postgresql/data',
  env: ({ username, password, database }) => ({
    POSTGRES_USER: username,
    POSTGRES_PASSWORD: password,
    POSTGRES_DB: database!,
  }),
  script: null,
  // While a new database is initialized, its temporary server listens on a Unix socket only. It must not
  // count as ready, so the check uses TCP.
  healthCommand: (credentials) => ({
    argv: [...probeTimeout, 'psql', '-XtAc', 'select 1'],
    env: { ...postgresEnv(credentials), PGCONNECT_TIMEOUT: '5' },
  }),
  isHealthy: ({ exitCode, stdout }) => exitCode === 0 && stdout.trim() === '1',
  isLoading: () => false,
  limitCommand: () => null,
  client: (credentials, words) => ({
    argv: ['psql', ...words],
    env: { ...postgresEnv(credentials), PSQL_HISTORY: '/dev/null' },
  }),
}

/** Connects Postgres's own programs to the server in their network namespace, by default to its database. */
export function postgresEnv({ username, password, database }: Credentials, name = database!) {
  return { PGHOST: '127.0.0.1', PGUSER: username, PGPASSWORD: password, PGDATABASE: name }
}

/**
 * The settings are passed on standard input, so that neither arguments nor files contain the password. Data
 * may use three quarters of the memory limit at the time of the start; writes beyond that are refused, and
 * the server is not killed. An acknowledged write is on disk.
 */
const redisScript = `group=/sys/fs/cgroup
limit=$(cat $group/memory.max 2>/dev/null || cat $group/memory/memory.limit_in_bytes)
case $limit in *[!0-9]*) limit=0 ;; esac
exec docker-entrypoint.sh redis-server - <<END
requirepass $REDIS_PASSWORD
masterauth $REDIS_PASSWORD
dir /data
appendonly yes
appendfsync always
save ""
repl-diskless-sync-delay 0
maxmemory $((limit / 4 * 3))
maxmemory-policy noeviction
END`

const redis: DatastoreEngine = {
  mountPath: () => '/data',
  env: ({ password }) => ({ REDIS_PASSWORD: password }),
  script: redisScript,
  healthCommand: ({ password }) => redisCommand(password, ['ping']),
  isHealthy: ({ stdout }) => stdout.trim() === 'PONG',
  isLoading: (refusal) => refusal.startsWith('LOADING'),
  limitCommand: ({ password }, memoryMb) =>
    redisCommand(password, [
      'config',
      'set',
      'maxmemory',
      String(Math.floor((memoryMb * 1024 * 1024) / 4) * 3),
    ]),
  client: ({ password }, words) => ({
    argv: ['redis-cli', '-h', '127.0.0.1', ...words],
    env: { REDISCLI_AUTH: password, REDISCLI_HISTFILE: '/dev/null' },
  }),
}

export const kinds: Record<DatastoreKind, DatastoreEngine> = { postgres, redis }

function redisCommand(password: string, words: string[]): Command {
  const argv = [...probeTimeout, 'redis-cli', '-h', '127.0.0.1', ...words]
  return { argv, env: { REDISCLI_AUTH: password } }
}
