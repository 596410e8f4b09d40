// What effects need of a datastore, read each time: its record, its password, its container.
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { Limits } from '../../docker/containers/spec.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'
import { Failure } from '../../errors.ts'
import type { DefaultLimits } from '../engine/ports.ts'
import { type DatastoreEngine, kinds } from './kind.ts'
import type { DatastorePorts } from './ports.ts'

export interface Datastore {
  record: DatastoreRecord
  credentials: Credentials
  kind: DatastoreEngine
  /** Of its container. */
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

/** What its container may use: what was set, or what the server sets for all. */
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

/** What of the limits the host cannot give; null when it gives all. */
export function findCappedLimit({ cpuLimit }: Limits, { cpus }: { cpus: number }): string | null {
  if (cpuLimit <= cpus) return null
  return `the host has ${cpus === 1 ? '1 CPU' : `${cpus} CPUs`}: cpu_limit ${cpuLimit} is capped at ${cpus}`
}

/** What `timeout` ends with in coreutils and in busybox. */
const timeoutExitCodes = [124, 143]

/** Whether it answers; else why not, without the password. */
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
