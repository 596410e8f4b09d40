// The log of a deploy as its effects write it. What Berth itself says is on the `system` stream.
import type { LogStream } from '../../../storage/logs.ts'
import type { Host } from '../host.ts'

export interface DeployLog {
  say(line: string): void
  write(stream: LogStream, line: string): void
  /** Closes the log with its last line. Doing it again changes nothing. */
  close(lastLine: string): Promise<void>
}

export function openDeployLog(host: Host, deployId: string): DeployLog {
  const { logs } = host.storage
  return {
    say: (line) => logs.append(deployId, 'system', line),
    write: (stream, line) => logs.append(deployId, stream, line),
    async close(lastLine) {
      if (logs.isEnded(deployId)) return
      logs.append(deployId, 'system', lastLine)
      await logs.end(deployId)
      tellOutcome(host, deployId, lastLine)
    },
  }
}

/** For whoever reads the daemon's own log: requests alone do not say what became of them. */
function tellOutcome({ storage, logger }: Host, deploy: string, outcome: string): void {
  const serviceId = storage.actors.record(deploy)?.service_id
  const service = typeof serviceId === 'string' ? storage.services.get(serviceId)?.name : undefined
  logger.info({ service, deploy, outcome }, 'a deploy has its outcome')
}

/** Whether the current phase began under an earlier daemon: what it did is then done again, and said. */
export function isBegunAgain(host: Host, deployId: string): boolean {
  const last = host.storage.actors.history(deployId).at(-1)
  return last !== undefined && last.at < host.startedAt
}
