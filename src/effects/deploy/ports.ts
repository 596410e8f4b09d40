import type { LimitFunction } from 'p-limit'
import type { ImageBuilder } from '../../docker/build/build.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import type { Publication } from '../../domain/domains.ts'
import type { HostRules } from '../../git/remote-host.ts'
import type { DatastoreBind } from '../datastore/kind.ts'
import type { FreeDiskSettings } from '../disk/disk.ts'
import type { Edge } from '../edge/haproxy-edge.ts'
import type { InstanceEvents } from '../engine/instance-events.ts'
import type { DefaultLimits, EnginePorts } from '../engine/ports.ts'
import type { AddressPorts } from '../isolation/isolation.ts'
import type { LogCollector } from '../logs/log-collector.ts'
import type { SharedPorts } from '../ports.ts'

export interface DeployPorts extends SharedPorts, EnginePorts, AddressPorts {
  instances: Instances
  instanceEvents: InstanceEvents
  logCollector: Pick<LogCollector, 'drained'>
  edge: Edge
  publication: Publication
  builder: ImageBuilder
  /** First come, first served is fair between services, because each has at most one running deploy. */
  buildSlots: LimitFunction
  /** Why live deploys are degraded, by their id. Each round of the upkeep reports the reason again. */
  degradedReasons: Map<string, string>
  /** Since when a service is down because its disk moves to another version: ms since 1970, by its id. */
  downtimes: Map<string, number>
  /** When this daemon started: a phase that started earlier is repeated, and the log mentions it. */
  startedAt: string
  settings: DeploySettings
}

export interface DeploySettings extends DefaultLimits, DatastoreBind, FreeDiskSettings {
  baseDomain: string
  keepImages: number
  /** Directories whose repositories may be deployed by path, although other users may not read them. */
  localRepositories: string[]
  gitHosts: HostRules
  /** How long a new version must run, and pass its check again, before it replaces the live one. */
  settleMs: number
  /** The image that static sites are put into; empty for the built-in one. */
  staticImage: string
}
