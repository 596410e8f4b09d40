// Everything that the HTTP layer gets from the daemon. Handlers never change Docker: `observe` only reads.
import type { Storage } from '../../../storage/index.ts'
import type { Administrator } from '../../account/administrator.ts'
import type { Caller, Callers } from '../../account/callers.ts'
import type { TerminalLogins } from '../../account/terminal-logins.ts'
import type { CertificateAuthority } from '../../api/certificate.ts'
import type { Doctor } from '../../api/doctor.ts'
import type { Info } from '../../api/info.ts'
import type { ServiceStatus, Traffic } from '../../api/status.ts'
import type { EdgeSettings } from '../../domain/domains.ts'
import type { BackupPlaces } from '../../effects/backup-place/backup-places.ts'
import type { DiskUsage } from '../../effects/disk/disk-usage.ts'
import type { LeftBehind } from '../../effects/engine/left-behind.ts'
import type { Files } from '../../effects/files.ts'
import type { DeployKeys } from '../../effects/git-connection/deploy-keys.ts'
import type { GitAccounts } from '../../effects/git-connection/git-accounts.ts'
import type { Shells } from '../../effects/shells.ts'
import type { UsageSample } from '../../effects/traffic/instance-metrics.ts'
import type { typed } from '../../git/repository.ts'
import type { Supervisor } from '../../supervisor/supervisor.ts'
import type { StaticFile } from '../server/static-file.ts'

export interface HttpContext {
  version: string
  config: HttpConfig
  allowedHosts(host: string): boolean
  /** Notices tokens that are used from a new address. Does not wait. */
  noteUse(caller: Caller, address: string): void
  /** Whether the X-Forwarded-* headers of a peer with this address are trusted. */
  isTrustedProxy(address: string): boolean
  /** The secret that the edge sends with each request to the server's own host; null without an edge. */
  edgeSecret: string | null
  callers: Callers
  administrator: Administrator
  terminalLogins: TerminalLogins
  /** True once actors are restored from disk and reconciled with Docker. */
  ready(): boolean
  storage: Storage
  actors: ActorPort
  observe: Observer
  /** Looks at the host. Calls within some seconds share one look. */
  doctor(): Promise<Doctor>
  /** Files of instances and disks. */
  files: Files
  /** Interactive commands in containers. */
  shells: Shells
  backupPlaces: BackupPlaces
  serverBackups: { place: string; places: BackupPlaces }
  git: GitAccounts
  deployKeys: DeployKeys
  traffic: TrafficMetrics | null
  /** Null when the server runs from source and it was not built. */
  dashboard: Dashboard | null
  parse: Parser
  /** The name of the Docker volume that is, or would be, the disk of a service. */
  diskOf(service: { id: string; disk_volume?: string }): string
  /** Whether the host has a valid certificate. Reads from memory, because every record calls it. */
  hasCertificate(host: string): boolean
  certificateAuthority(): CertificateAuthority
  /** Makes the key for backups of a new server, to be shown once; null if the server has one. */
  firstRecoveryKey(): Promise<string | null>
  /** Aborts the signal with `insufficient_storage` when the disk of the data directory is too full. */
  whileDiskHasRoom<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** The pages in the browser, as they were built. */
export interface Dashboard {
  document: string
  /** Identity of the document, and so of all files. */
  build: string
  /** By name, such as `index-3fQ1x.js`. */
  files: ReadonlyMap<string, StaticFile>
}

interface HttpConfig {
  baseDomain: string
  edge: EdgeSettings
  defaultMemoryLimitMb: number
  defaultCpuLimit: number
  minFreeDiskMb: number
  keepImages: number
  datastoreBind: string
  builds: Omit<Info['builds'], 'hangs_since'>
  dataDir: string
  backupDir: string
  prefix: string
  /** How long deleted data can be restored; 0 disables the trash. */
  trashDays: number
  deployLimits: { fetchMs: number; buildMs: number; startMs: number }
}

interface TrafficMetrics {
  /** Traffic of the last five minutes. */
  of(serviceId: string): Traffic
  /** In the text format of Prometheus. */
  metrics(): Promise<string>
}

/** Creates actors and sends them events. All resolve after the commit. `inspect` only watches. */
export type ActorPort = Pick<
  Supervisor,
  'suspects' | 'spawn' | 'preview' | 'send' | 'retry' | 'discard' | 'inspect'
>

export interface Observer {
  /** Throws `docker_unavailable`. */
  instances(serviceId: string): Promise<InstanceStatus[]>
  /** The reason why a live deploy is degraded; null if it is not, or not known yet. */
  degradedReason(deployId: string): string | null
  /** null when the engine does not respond. */
  engine(): Promise<{ version: string; cpus: number; memoryBytes: number } | null>
  diskFreeBytes(): Promise<number>
  /** Images that do not exist, and volumes that were created again. Throws `docker_unavailable`. */
  missingSince(restoredAt: string): Promise<NonNullable<NonNullable<Info['held']>['missing']>>
  /** The last measurement; null before the first. */
  diskUsage(): DiskUsage | null
  /** The resource usage in the last sample; null before the first. Does not wait. */
  usage(): UsageSample | null
  /** Counters of a service since this daemon started. */
  counters(serviceId: string): { restarts: number; cpuSeconds: number }
  isolation(): Info['network_isolation']
  /** Null unless the builder of the engine is known to hang. */
  builderHangsSince(): string | null
  /** The volumes of services, by name. Throws `docker_unavailable`. */
  disks(): Promise<{ name: string; serviceId: string; serviceName: string }[]>
  /** Throws `conflict` if a volume for a datastore of that name exists already. */
  assertVolumeFree(datastore: string): Promise<void>
  /** The size of all databases of a Postgres. Throws `docker_error`, `docker_unavailable`. */
  databaseBytes(datastoreId: string): Promise<number>
  /** The existing objects of an actor. Throws `docker_unavailable`. */
  leftBehind(actor: { kind: string; id: string; service_id: string | null }): Promise<LeftBehind[]>
  /** The progress of a backup or restore; null if it is not running. */
  progress(id: string): { doneBytes: number; totalBytes: number | null } | null
  /** Throws `invalid_request`, `docker_error`, `docker_unavailable`. */
  checkLogin(registry: { host: string; username: string; password: string }): Promise<void>
  /** null when the engine does not respond. */
  hasImage(name: string): Promise<boolean | null>
}

/** The role is derived from the record of the deploy. */
export type InstanceStatus = Omit<ServiceStatus['instances'][number], 'role'>

/** Parses user input by the rules of git and registries. Each method throws `invalid_request`. */
type Parser = typeof typed & {
  /** The normal form of an image's name. */
  image(text: string): string
  /** The normalized registry host, under which its credentials are stored. */
  registryHost(text: string): string
}
