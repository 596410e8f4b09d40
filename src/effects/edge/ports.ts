import type { EnginePorts } from '../engine/ports.ts'
import type { SharedPorts } from '../ports.ts'

export interface EdgePorts extends SharedPorts, EnginePorts {
  settings: EdgeSettings
}

export interface EdgeSettings {
  dataDir: string
  baseDomain: string
}
