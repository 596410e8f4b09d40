// The differences between the two kinds of datastores: image, data directory, password, health command.
// Passwords are passed only in the environment, because every user of the host can read arguments.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import type { Datastores } from '../../docker/containers/datastores.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import type { Command, Outcome } from '../../docker/exec/exec.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { inspectImage } from '../../docker/images/images.ts'
import { pullImage } from '../../docker/images/pull.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'
import { codeOf, Failure } from '../../errors.ts'
import { checkFreeDisk, type FreeDiskSettings, guardDockerDisk } from '../disk/disk.ts'
import type { InstanceEvents } from '../engine/instance-events.ts'
import type { DefaultLimits, EnginePorts } from '../engine/ports.ts'
import type { AddressPorts } from '../isolation/isolation.ts'
import type { SharedPorts } from '../ports.ts'

export interface DatastoreEngine {
  /** The mount path of the volume, which depends on the server's version. */
  mountPath(version: string): string
  env(credentials: Credentials): Record<string, string>
  /** The script for `sh -c` that replaces the image's own command; null to use the image's command. */
  script: string | null
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

export interface DatastorePorts extends SharedPorts, EnginePorts, AddressPorts {
  datastores: Datastores
  instances: Instances
  instanceEvents: InstanceEvents
  settings: DatastoreSettings
}

export interface DatastoreSettings extends DatastoreImages, DatastoreBind, DefaultLimits, FreeDiskSettings {
  datastorePorts: { first: number; last: number }
}

/** The images of datastores; `{version}` is replaced by the version of the datastore. */
export interface DatastoreImages {
  postgresImage: string
  redisImage: string
}

export interface DatastoreBind {
  datastoreBind: string
}

const pullTimeoutMs = 15 * 60_000
/** A user waits for the response, so an unavailable engine is reported soon and retried. */
const engineTimeoutMs = 5_000

/** An image on the host is used as it is, so a server is never upgraded unexpectedly. */
export async function obtainImage(
  ports: DatastorePorts,
  { kind, version }: { kind: DatastoreKind; version: string },
  signal: AbortSignal,
) {
  await waitForEngineBriefly(ports, signal)
  const { reference, host: registry } = parseImageReference(imageOf(ports, kind, version))
  if (await inspectImage(ports.engine, reference)) return
  await checkFreeDisk(ports.settings, 'a pull')
  const credentials = ports.storage.registries.get(registry)
  const onLine = (line: string) => ports.logger.debug({ image: reference, line }, 'pulling')
  ports.logger.info({ image: reference }, 'pulling the image of a datastore')
  const { imageId } = await withTimeout(pullTimeoutMs, signal, (patient) =>
    guardDockerDisk(ports, 'a pull', patient, (bound) =>
      pullImage(ports.engine, { reference, credentials, onLine, signal: bound }),
    ),
  )
  ports.logger.info({ image: reference, imageId }, 'pulled the image of a datastore')
}

export function imageOf(
  { settings }: { settings: DatastoreImages },
  kind: DatastoreKind,
  version: string,
): string {
  const template = kind === 'postgres' ? settings.postgresImage : settings.redisImage
  return template.replaceAll('{version}', version)
}

/** Returns the network if the engine responds soon. Throws `docker_unavailable`. */
export async function waitForEngineBriefly(ports: DatastorePorts, signal: AbortSignal) {
  try {
    return await withTimeout(engineTimeoutMs, signal, ports.engineReady)
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) !== 'timeout') throw error
    throw new Failure('docker_unavailable', 'Docker does not respond')
  }
}
