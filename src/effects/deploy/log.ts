// The log of a deploy, and whether what it tells is told for the second time.

import type { Host } from '../host.ts'
import { type ActorLog, openActorLog } from '../logs/actor-log.ts'

export type DeployLog = ActorLog

export function openDeployLog(host: Host, deployId: string): DeployLog {
  return openActorLog(host, 'deploy', deployId)
}

/** Whether the current phase began under an earlier daemon: what it did is then done again, and said. */
export function isBegunAgain(host: Host, deployId: string): boolean {
  const last = host.storage.actors.history(deployId).at(-1)
  return last !== undefined && last.at < host.startedAt
}
