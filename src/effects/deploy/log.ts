// The log of a deploy. After a restart of the daemon it marks lines that a repeated effect writes again.
import type { ActorLogPorts } from '../logs/actor-log.ts'
import { type ActorLog, openActorLog } from '../logs/actor-log.ts'
import type { DeployPorts } from './ports.ts'

export type DeployLog = ActorLog

export function openDeployLog(ports: ActorLogPorts, deployId: string): DeployLog {
  return openActorLog(ports, 'deploy', deployId)
}

/** Whether the phase started under an earlier daemon: its steps are repeated, and the log says so. */
export function isRetry(ports: Pick<DeployPorts, 'storage' | 'startedAt'>, deployId: string): boolean {
  const last = ports.storage.actors.history(deployId).at(-1)
  return last !== undefined && last.at < ports.startedAt
}
