// A datastore as effects use it, read again for each effect: its record, its password and its container.
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { Limits } from '../../docker/containers/spec.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'
import { Failure } from '../../errors.ts'
import { count } from '../../quantities.ts'
import type { DefaultLimits } from '../engine/ports.ts'
import { type DatastoreEngine, kinds } from './kind.ts'
import type { DatastorePorts } from './ports.ts'

export interface Datastore {
  record: DatastoreRecord
  credentials: Credentials
  kind: DatastoreEngine
  /** The name of its container. */
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

/** The limits of its container: those that were set, or else the server's defaults. */
export function limitsOf(
  { settings }: { settings: DefaultLimits },
  { memoryMb, cpus }: { memoryMb: number | null; cpus: number | null },
): Limits {
  return {
    memoryLimitMb: memoryMb ?? settings.defaultMemoryLimitMb,
    cpuLimit: cpus ?? settings.defaultCpuLimit,
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

export function maskPassword(text: string, { password }: Credentials): string {
  return text.replaceAll(password, '***')
}
