// What effects may use: the engine's nouns, git, storage and the port to other actors, wired once by the
// daemon.
// Mind: effects are handed ids and look everything else up here, so that a restart finds the same things
// again.

import type { LimitFunction } from 'p-limit'
import type { BackupInput } from '../../machines/backup.ts'
import type { CronScheduleInput } from '../../machines/cron-schedule.ts'
import type { DiskRemovalInput } from '../../machines/disk-removal.ts'
import type { JobRunInput } from '../../machines/job-run/job-run.ts'
import type { By } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import type { TerminalLogins } from '../account/terminal-logins.ts'
import type { Builder } from '../docker/build/build.ts'
import type { BuildGuard } from '../docker/build/build-guard.ts'
import type { BuilderWatch } from '../docker/build/builder-watch.ts'
import type { Datastores } from '../docker/containers/datastores.ts'
import type { Instances } from '../docker/containers/instances.ts'
import type { Tools } from '../docker/containers/one-shot-containers.ts'
import type { Engine } from '../docker/engine/client.ts'
import type { Owner } from '../docker/engine/names.ts'
import type { Publication } from '../domain/domains.ts'
import type { Logger } from '../logger.ts'
import type { DiskWatch } from './disk/disk-watch.ts'
import type { Edge } from './edge/haproxy-edge.ts'
import type { InstanceEvents } from './engine/instance-events.ts'
import type { Isolation } from './isolation/isolation.ts'
import type { JobSlots } from './job-run/job-slots.ts'
import type { AccessLog } from './logs/access-log.ts'
import type { LogCollector } from './logs/log-collector.ts'
import type { InstanceMetrics } from './traffic/instance-metrics.ts'
import type { TrafficNumbers } from './traffic/traffic-numbers.ts'

/** Settings of the server that effects act on. */
export interface HostSettings {
  dataDir: string
  defaultMemoryLimitMb: number
  defaultCpuLimit: number
  pidsLimit: number
  keepImages: number
  minFreeDiskMb: number
  /** Directories whose repositories may be deployed by their path although others may not read them. */
  localRepositories: string[]
  denyPrivateGitHosts: boolean
  baseDomain: string
  /** How long a new version must run, and pass its check again, before it replaces one that serves. */
  settleMs: number
  /** The image that static sites are put into; empty for our own. */
  staticImage: string
  /** Of datastores; `{version}` stands for theirs. */
  postgresImage: string
  redisImage: string
  /** The address and the ports of the host that datastores are reached by. */
  datastoreBind: string
  datastorePorts: { first: number; last: number }
  /** Where backups are kept. */
  backupDir: string
}

/** The private network, known once the engine answers. */
export interface PrivateNetwork {
  name: string
  range: { first: string; last: string }
  /** The host's own address in it. */
  gateway: string
}

/** How effects reach other actors: by id, through the supervisor. */
export interface ActorPort {
  send(
    id: string,
    event: { type: string; at: string; [detail: string]: unknown },
  ): Promise<{ applied: boolean }>
  /** Starts one; an id that is known already answers that one. */
  spawn<Kind extends keyof SpawnInputs>(
    kind: Kind,
    id: string,
    input: SpawnInputs[Kind],
    options?: { by: By },
  ): Promise<unknown>
}

/** What effects start, and with what. */
interface SpawnInputs {
  backup: BackupInput
  'cron-schedule': CronScheduleInput
  'disk-removal': DiskRemovalInput
  'job-run': JobRunInput
}

/** Of a backup or a restore: how far its phase is. */
export interface Progress {
  doneBytes: number
  totalBytes: number | null
}

export interface Host {
  settings: HostSettings
  storage: Storage
  actors: ActorPort
  engine: Engine
  owner: Owner
  instances: Instances
  datastores: Datastores
  tools: Tools
  builder: Builder
  /** Whether the builder of the engine hangs. */
  builderWatch: BuilderWatch
  buildGuard: BuildGuard
  edge: Edge
  /** How the hosts of services are opened. */
  publication: Publication
  /** First come, first served is fair between services: each has one running deploy at most. */
  buildSlots: LimitFunction
  jobSlots: JobSlots
  /** Cancels what writes to a disk that becomes too full. */
  diskWatch: DiskWatch
  instanceEvents: InstanceEvents
  instanceMetrics: InstanceMetrics
  isolation: Isolation
  logCollector: LogCollector
  accessLog: AccessLog
  traffic: TrafficNumbers
  /** Why a live deploy is degraded, by its id: each round of its upkeep says it anew. */
  troubles: Map<string, string>
  /** Since when a service is away because its disk changes hands (ms since 1970), by its id. */
  absences: Map<string, number>
  /** Of backups and restores that run, by their ids. */
  progress: Map<string, Progress>
  /** Resolves when the engine answers and the network is there; waits as long as it takes. */
  ready(signal: AbortSignal): Promise<PrivateNetwork>
  terminalLogins: TerminalLogins
  /** When this daemon started: what began earlier is begun again, and says so. */
  startedAt: string
  logger: Logger
}

export const isoNow = (): string => new Date().toISOString()
