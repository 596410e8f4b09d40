import type { Datastores } from '../../docker/containers/datastores.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import type { FreeDiskSettings } from '../disk/disk.ts'
import type { DiskWatch } from '../disk/disk-watch.ts'
import type { InstanceEvents } from '../engine/instance-events.ts'
import type { DefaultLimits, EnginePorts } from '../engine/ports.ts'
import type { AddressPorts } from '../isolation/isolation.ts'
import type { SharedPorts } from '../ports.ts'

export interface DatastorePorts extends SharedPorts, EnginePorts, AddressPorts {
  datastores: Datastores
  instances: Instances
  instanceEvents: InstanceEvents
  diskWatch: DiskWatch
  settings: DatastoreSettings
}

export interface DatastoreSettings extends DatastoreImages, DatastoreBind, DefaultLimits, FreeDiskSettings {
  /** The range of their ports on the host. */
  datastorePorts: { first: number; last: number }
}

/** The images of datastores; `{version}` is replaced by the version of the datastore. */
export interface DatastoreImages {
  postgresImage: string
  redisImage: string
}

export interface DatastoreBind {
  /** The host address at which datastores are published. */
  datastoreBind: string
}
