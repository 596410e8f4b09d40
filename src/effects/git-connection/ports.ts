import type { HostRules } from '../../git/remote-host.ts'
import type { SharedPorts } from '../ports.ts'

export interface GitConnectionPorts extends SharedPorts {
  settings: { gitHosts: HostRules }
}

export interface AuthorizationPorts extends GitConnectionPorts {
  /** `url` is the address of the server's pages; null without a host of its own. */
  identity: { url: string | null }
}
