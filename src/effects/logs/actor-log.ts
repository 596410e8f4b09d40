// The log of a deploy or a job run, for its effects. Berth's own lines are on the `system` stream.
import type { LogAbout, LogStream } from '../../../storage/log/logs.ts'
import type { BuildStep } from '../../docker/build/build-log.ts'
import type { SharedPorts } from '../ports.ts'

/** Fields of a line for programs; the text is for people. */
export interface ActorLine extends LogAbout {
  step?: BuildStep
  /** A shorter form of the line, shown after the name of the phase. */
  brief?: string
  /** `running`: the command of a job starts. `outcome`: the last line. */
  mark?: 'running' | 'outcome'
}

export interface ActorLog {
  info(line: string, about?: ActorLine): void
  write(stream: LogStream, line: string): void
  build(stream: LogStream, line: string, step: BuildStep | null): void
  /** Closes the log with its last line. Idempotent. */
  close(lastLine: string): Promise<void>
}

export type ActorLogPorts = Pick<SharedPorts, 'logger' | 'storage'>

/** `noun` is the actor's name in the daemon's own log. */
export function openActorLog(ports: ActorLogPorts, noun: 'deploy' | 'job', id: string): ActorLog {
  const { logs } = ports.storage
  return {
    info: (line, about) => logs.append(id, 'system', line, undefined, about),
    write: (stream, line) => logs.append(id, stream, line),
    build: (stream, line, step) => logs.append(id, stream, line, undefined, step ? { step } : undefined),
    async close(lastLine) {
      if (logs.isEnded(id)) return
      logs.append(id, 'system', lastLine, undefined, { mark: 'outcome' })
      await logs.end(id)
      logOutcome(ports, noun, id, lastLine)
    },
  }
}

/** Logs the outcome for readers of the daemon's own log, because requests alone do not show their results. */
function logOutcome(
  { storage, logger }: ActorLogPorts,
  noun: 'deploy' | 'job',
  id: string,
  outcome: string,
): void {
  const serviceId = storage.actors.record(id)?.service_id
  const service = typeof serviceId === 'string' ? storage.services.get(serviceId)?.name : undefined
  logger.info({ service, [noun]: id, outcome }, `a ${noun} has its outcome`)
}
