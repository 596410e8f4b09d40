// A datastore as effects use it, read again for each effect: its record, its password and its container.
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { RunOptions } from '../../docker/containers/datastores.ts'
import type { Limits } from '../../docker/containers/spec.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import type { Command } from '../../docker/exec/exec.ts'
import {
  type Credentials,
  connectionString,
  datastorePorts,
  externalHost,
} from '../../domain/datastore-urls.ts'
import type { DatastoreProperty } from '../../domain/env-references.ts'
import { Failure } from '../../errors.ts'
import { count } from '../../quantities.ts'
import type { DefaultLimits } from '../engine/ports.ts'
import { type DatastoreBind, type DatastoreEngine, type DatastorePorts, kinds } from './kind.ts'

export interface Datastore {
  record: DatastoreRecord
  credentials: Credentials
  kind: DatastoreEngine
  name: string
}

/** Throws `not_found` for a deleted datastore. */
export function findDatastore(ports: Pick<DatastorePorts, 'owner' | 'storage'>, id: string): Datastore {
  const record = ports.storage.actors.record<'datastore'>(id)
  if (record === null) throw new Failure('not_found', `there is no datastore ${id}`)
  const { username, database, kind } = record
  return {
    record,
    credentials: { username, database, password: ports.storage.datastores.password(id) },
    kind: kinds[kind],
    name: datastoreName(ports.owner, record.name),
  }
}

export function limitsOf(
  { settings }: { settings: DefaultLimits },
  { memory_limit_mb, cpu_limit }: Pick<DatastoreRecord, 'memory_limit_mb' | 'cpu_limit'>,
): Limits {
  return {
    memoryLimitMb: memory_limit_mb ?? settings.defaultMemoryLimitMb,
    cpuLimit: cpu_limit ?? settings.defaultCpuLimit,
    pidsLimit: settings.pidsLimit,
  }
}

/** The limit that the host cannot grant in full; null if it can. */
export function findCappedLimit({ cpuLimit }: Limits, { cpus }: { cpus: number }): string | null {
  if (cpuLimit <= cpus) return null
  return `the host has ${count(cpus, 'CPU')}: the CPU limit of ${cpuLimit} is capped at ${cpus}`
}

/** The exit codes of `timeout` in coreutils and in busybox. */
const timeoutExitCodes = [124, 143]

/** Null if the datastore is healthy; otherwise the reason, without the password. */
export async function checkDatastore(
  ports: Pick<DatastorePorts, 'datastores'>,
  { name, kind, credentials }: Datastore,
  signal: AbortSignal,
): Promise<string | null> {
  const healthCommand = kind.healthCommand(credentials)
  const outcome = await ports.datastores.run(name, healthCommand, { signal, timeoutMs: 10_000 })
  if (kind.isHealthy(outcome)) return null
  if (timeoutExitCodes.includes(outcome.exitCode)) return 'it accepts connections and sends nothing'
  const output = (outcome.stderr || outcome.stdout).trim().split('\n').at(-1) ?? ''
  return maskPassword(output, credentials) || `it ended with exit code ${outcome.exitCode}`
}

/** Returns the output of a command in its container. Throws that code with the last line of the errors. */
export async function runInDatastore(
  ports: Pick<DatastorePorts, 'datastores'>,
  { name, credentials }: Datastore,
  command: Command,
  { code, ...options }: RunOptions & { code: string },
): Promise<string> {
  const { exitCode, stdout, stderr } = await ports.datastores.run(name, command, options)
  if (exitCode === 0) return stdout.trim()
  const reason = maskPassword(stderr.trim(), credentials).split('\n').at(-1)
  throw new Failure(code, reason || `${command.argv[0]} ended with exit code ${exitCode}`)
}

export function maskPassword(text: string, { password }: Credentials): string {
  return text.replaceAll(password, '***')
}

/** The value of `${{datastore.NAME.PROP}}`, which may be a secret; null if it does not exist. */
export function lookUpDatastore(
  ports: Pick<DatastorePorts, 'owner' | 'storage'> & { settings: DatastoreBind },
  name: string,
  property: string,
): string | null {
  const id = ports.storage.datastores.idOf(name)
  if (id === null || id === name) return null
  const { record, credentials } = findDatastore(ports, id)
  const { kind, status, host_port } = record
  if (status === 'deleting') return null
  const outside = { host: externalHost(ports.settings.datastoreBind), port: host_port ?? 0 }
  const values: Record<DatastoreProperty, string | null> = {
    connectionString: connectionString(kind, credentials, { host: name, port: datastorePorts[kind] }),
    externalConnectionString: host_port === null ? null : connectionString(kind, credentials, outside),
    host: name,
    port: String(datastorePorts[kind]),
    user: credentials.username,
    password: credentials.password,
    database: credentials.database,
  }
  return Object.hasOwn(values, property) ? values[property as DatastoreProperty] : null
}
