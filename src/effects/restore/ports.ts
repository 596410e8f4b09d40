import type { Datastores } from '../../docker/containers/datastores.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import type { ToolPorts, ToolSettings, TransferPorts } from '../backup/ports.ts'
import type { DiskWatch } from '../disk/disk-watch.ts'
import type { EnginePorts } from '../engine/ports.ts'
import type { SharedPorts } from '../ports.ts'

export interface RestorePorts extends SharedPorts, EnginePorts, ToolPorts, TransferPorts {
  datastores: Datastores
  instances: Instances
  diskWatch: DiskWatch
  settings: ToolSettings & { backupDir: string }
}
