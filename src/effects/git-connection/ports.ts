import type { HostRules } from '../../git/remote-host.ts'
import type { SharedPorts } from '../ports.ts'

export interface GitConnectionPorts extends SharedPorts {
  settings: { gitHosts: HostRules }
}
