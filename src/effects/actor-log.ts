// The log of a deploy or a job run as its effects write it. What Berth itself says is on the `system` stream.
import type { LogStream } from '../../storage/logs.ts'
import type { Host } from './host.ts'

export interface ActorLog {
  say(line: string): void
  write(stream: LogStream, line: string): void
  /** Closes the log with its last line. Doing it again changes nothing. */
  close(lastLine: string): Promise<void>
}

/** `noun` is what the daemon's own log calls the actor. */
export function openActorLog(host: Host, noun: 'deploy' | 'job', id: string): ActorLog {
  const { logs } = host.storage
  return {
    say: (line) => logs.append(id, 'system', line),
    write: (stream, line) => logs.append(id, stream, line),
    async close(lastLine) {
      if (logs.isEnded(id)) return
      logs.append(id, 'system', lastLine)
      await logs.end(id)
      tellOutcome(host, noun, id, lastLine)
    },
  }
}

/** For whoever reads the daemon's own log: requests alone do not say what became of them. */
function tellOutcome({ storage, logger }: Host, noun: 'deploy' | 'job', id: string, outcome: string): void {
  const serviceId = storage.actors.record(id)?.service_id
  const service = typeof serviceId === 'string' ? storage.services.get(serviceId)?.name : undefined
  logger.info({ service, [noun]: id, outcome }, `a ${noun} has its outcome`)
}
