import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
import type { HostRules } from '../../git/remote-host.ts'
import type { FreeDiskSettings } from '../disk/disk.ts'
import type { EnginePorts } from '../engine/ports.ts'
import type { SharedPorts } from '../ports.ts'

export interface AutoDeployPorts extends SharedPorts, Pick<EnginePorts, 'engine' | 'engineReady'> {
  settings: FreeDiskSettings & {
    localRepositories: string[]
    gitHosts: HostRules
    deployLimits: DeployInput['limits']
  }
}
