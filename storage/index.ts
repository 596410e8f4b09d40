// Opens a data directory with all its stores and files. The opening process holds the directory's lock.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openAccount } from './access/account.ts'
import { openAttempts } from './access/attempts.ts'
import { openDevices } from './access/devices.ts'
import { openSessions, openTokens } from './access/hashed-tokens.ts'
import { openServerToken } from './access/server-token.ts'
import { openSetupCode } from './access/setup-code.ts'
import { Activity } from './activity.ts'
import { Actors, type ToRecord } from './actors/actors.ts'
import { Addresses } from './addresses.ts'
import { openAlerts } from './alerts.ts'
import { openArchives } from './archives.ts'
import { Audit } from './audit.ts'
import { openBackupPlaces } from './backup-places.ts'
import { openBuildCaches } from './build-caches.ts'
import { openCertificates } from './certificates.ts'
import { Datastores } from './datastores.ts'
import { openDeployKeys } from './deploy-keys.ts'
import { openEnv } from './env.ts'
import { openEvents } from './events.ts'
import { openForeignReads } from './foreign-reads.ts'
import { openFormerNames } from './former-names.ts'
import { openGitAuthorizations } from './git-authorizations.ts'
import { openCredentials, openGitConnections } from './git-connections.ts'
import { openHold } from './hold.ts'
import { HookDeliveries } from './hook-deliveries.ts'
import { openHookKeys } from './hook-keys.ts'
import { openHookRepositories } from './hook-repositories.ts'
import type { LogLimits } from './log/log.ts'
import { openLogs } from './log/logs.ts'
import { openNotificationChannels } from './notification-channels.ts'
import { openRegistries } from './registries.ts'
import { openReleases } from './releases.ts'
import { openSealer, type Sealer } from './secrets.ts'
import { Services } from './services.ts'
import { StorageError } from './store/errors.ts'
import { createIds, idTime, isId } from './store/ids.ts'
import { type DirectoryLock, lockDirectory } from './store/lock.ts'
import { migrate } from './store/migrations.ts'
import { Names } from './store/names.ts'
import { openRedundantValue } from './store/redundant-value.ts'
import { keepCopy } from './store/schema-copies.ts'
import { openStore, type Store, type StoreOptions } from './store/store.ts'
import { Upstreams } from './upstreams.ts'

export type Storage = Awaited<ReturnType<typeof openStorage>>

export interface StorageOptions extends StoreOptions {
  /** Called when a log file cannot be written. The daemon continues. */
  onLogError?: (error: unknown) => void
  /** Called with the copy that is made before the store's schema changes, and with that schema. */
  onSchemaCopy?: (path: string, schema: number) => void
  /** Limits of each service's runtime log and access log; 64 MiB and 14 days by default. */
  serviceLogs?: { sizeMb: number; days: number }
  /** How long the audit log goes back; a year by default. */
  auditDays?: number
  /** Rebuilds a damaged record; without it the record only reports the damage. */
  toRecord?: ToRecord
}

/** Throws `data_directory_in_use`, `store_too_new`, and the codes for a missing or wrong secret key. */
export async function openStorage(directory: string, options: StorageOptions) {
  makeDirectory(directory)
  const lock = lockDirectory(directory)
  let store: Store | null = null
  try {
    store = openStore(directory, options)
    const sealer = await openProvenSealer(directory, store)
    await migrate(store, sealer.mac, undefined, async (schema) => {
      const path = await keepCopy(directory, store!, schema)
      options.onSchemaCopy?.(path, schema)
    })
    const buildCaches = openBuildCaches(store)
    return {
      directory,
      nameMac: sealer.mac,
      formerNames: openFormerNames(store),
      foreignReads: openForeignReads(store),
      devices: openDevices(sealer),
      alerts: openAlerts(store),
      buildCaches,
      predecessors: openPredecessors(store),
      hookRepositories: openHookRepositories(store),
      gitAuthorizations: openGitAuthorizations(store, sealer),
      gitConnections: openGitConnections(store, sealer),
      ...(await openTables(directory, store, sealer, lock, options)),
    }
  } catch (error) {
    await store?.close()
    lock.release()
    throw error
  }
}

function makeDirectory(directory: string): void {
  try {
    makeWithParents(directory)
    chmodSync(directory, 0o700)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StorageError('data_directory_unusable', `${directory} cannot be the data directory: ${reason}`)
  }
}

/** Node's recursive mkdir never ends where the kernel cannot create a folder, as in /proc. */
function makeWithParents(directory: string): void {
  const parent = dirname(directory)
  if (!existsSync(parent)) makeWithParents(parent)
  mkdirSync(directory, { recursive: existsSync(directory), mode: 0o700 })
}

/** A key is created only for a new data directory: existing secrets cannot be opened with another key. */
async function openProvenSealer(directory: string, store: Store): Promise<Sealer> {
  const proof = openRedundantValue<string>(store, 'key_check', 'check')
  const storedProof = proof.get()
  const sealer = openSealer(directory, { create: storedProof === null })
  await proof.repair(sealer.check(storedProof))
  return sealer
}

async function openTables(
  directory: string,
  store: Store,
  sealer: Sealer,
  lock: DirectoryLock,
  options: StorageOptions,
) {
  const events = openEvents(store)
  const names = new Names(store)
  const services = new Services(store, events, names)
  const boot = await countBoot(store)
  const datastores = new Datastores(store, sealer, names)
  // A datastore from the trash may have another name. The row of a service is large, and its name stays.
  const nameOf = (id: string, last?: string) => datastores.nameOf(id) ?? last ?? services.nameOf(id)
  const activity = new Activity(store, nameOf)
  const audit = new Audit(store, options.auditDays)
  const actors = new Actors(store, services, events, { boot, activity, toRecord: options.toRecord })
  const onLogError = options.onLogError ? { onError: options.onLogError } : {}
  const logs = openLogs(join(directory, 'logs'), onLogError)
  const serviceLogs = { ...serviceLogLimits(options.serviceLogs), ...onLogError }
  const runtimeLogs = openLogs(join(directory, 'runtime-logs'), serviceLogs)
  const accessLogs = openLogs(join(directory, 'access-logs'), serviceLogs)
  const hold = openHold(directory)
  return {
    serverId: await readServerId(store),
    serverToken: openServerToken(directory),
    ids: createIds(Date.now, newestId(store)),
    account: openAccount(store),
    attempts: openAttempts(store),
    sessions: openSessions(store),
    setupCode: openSetupCode(directory),
    hold,
    tokens: openTokens(store),
    services,
    hookDeliveries: new HookDeliveries(store, services),
    hookKeys: openHookKeys(store, sealer),
    events,
    logs,
    runtimeLogs,
    accessLogs,
    actors,
    addresses: new Addresses(store),
    upstreams: new Upstreams(store),
    archives: openArchives(join(directory, 'archives'), (id) => actors.record(id) !== null),
    restoreFiles: openArchives(join(directory, 'restores'), (id) => actors.record(id) !== null, '.file'),
    certificates: openCertificates(join(directory, 'certificates')),
    credentials: openCredentials(store, sealer),
    datastores,
    deployKeys: openDeployKeys(store, sealer, services),
    nameOf,
    activity,
    backupPlaces: openBackupPlaces(store, sealer),
    audit,
    env: openEnv(store, sealer),
    notificationChannels: openNotificationChannels(store, sealer),
    registries: openRegistries(store, sealer),
    releases: openReleases(store, sealer),
    changes: store.changes,
    usedBytes: store.usedBytes,
    commit: store.commit,
    async close() {
      hold.close()
      await Promise.all([logs, runtimeLogs, accessLogs].map((each) => each.close()))
      await store.close()
      lock.release()
    },
  }
}

function serviceLogLimits({ sizeMb, days } = { sizeMb: 64, days: 14 }): Partial<LogLimits> {
  const tailBytes = sizeMb * 1024 * 1024
  return {
    headBytes: 0,
    tailBytes,
    segmentBytes: Math.min(2 * 1024 * 1024, tailBytes / 4),
    pendingBytes: 16 * 1024 * 1024,
    maxAgeMs: days * 24 * 60 * 60 * 1000,
  }
}

/** New ids continue from this one, even if the clock was set back while the server was down. */
function newestId(store: Store): string | undefined {
  const newestOf = ([table, prefix]: [string, string]) =>
    [
      ...store.table(table).keys({ start: `${prefix}-\uffff`, end: `${prefix}-`, reverse: true, limit: 1 }),
    ] as string[]
  const found = (
    [
      ['actors', 'alr'],
      ['actors', 'dep'],
      ['actors', 'crt'],
      ['actors', 'dsk'],
      ['actors', 'dst'],
      ['actors', 'bak'],
      ['actors', 'rst'],
      ['actors', 'sbk'],
      ['actors', 'job'],
      ['actors', 'ntf'],
      ['services', 'svc'],
      ['tokens_by_id', 'tok'],
    ] as [string, string][]
  ).flatMap(newestOf)
  return found.filter(isId).sort((a, b) => idTime(b) - idTime(a))[0]
}

/** The number of this start, from 1. Each entry of a history has the number of its start. */
async function countBoot(store: Store): Promise<number> {
  const stored = openRedundantValue<number>(store, 'server', 'boot')
  const boot = (stored.get() ?? 0) + 1
  await store.commit(() => stored.put(boot))
  return boot
}

/** Created with the data directory. Docker objects that this server manages are labelled with it. */
async function readServerId(store: Store): Promise<string> {
  const stored = openRedundantValue<string>(store, 'server', 'id')
  const id = stored.get() ?? randomBytes(8).toString('hex')
  await stored.repair(id)
  return id
}

// The server ids of data directories whose Docker prefix this server once took over, which an option of an
// earlier version did. Their remaining Docker objects are not managed, and do not prevent the start.

function openPredecessors(store: Store): () => string[] {
  const stored = openRedundantValue<{ server_id: string }[]>(store, 'server', 'predecessors')
  return () => (stored.get() ?? []).map(({ server_id }) => server_id)
}
