import type { HostRules } from '../../git/remote-host.ts'
import type { SharedPorts } from '../ports.ts'
import type { GitTokens } from './tokens.ts'

export interface GitConnectionPorts extends SharedPorts {
  settings: { gitHosts: HostRules }
  gitTokens: GitTokens
}
