// The lines that Berth writes to the log of a run before its command writes output. Effects are repeated
// after a restart of the daemon, and each line must appear once.
import type { ActorLogPorts } from '../logs/actor-log.ts'
import { type ActorLine, openActorLog } from '../logs/actor-log.ts'
import type { JobRunPorts } from './ports.ts'

/** Logs the line unless it is the last one. Resolves when it is on disk, so that a kill keeps it. */
export async function logOnce(
  ports: ActorLogPorts,
  id: string,
  line: string,
  about?: ActorLine,
): Promise<void> {
  if ((await lastLogged(ports, id)) === line) return
  openActorLog(ports, 'job', id).info(line, about)
  await ports.storage.logs.flush(id)
}

/** All lines that were logged before the command of a run started. */
export async function linesBeforeCommand(
  { storage: { logs } }: Pick<JobRunPorts, 'storage'>,
  id: string,
): Promise<Set<string>> {
  return new Set((await logs.tail(id, 100)).map(({ line }) => line))
}

async function lastLogged(
  { storage: { logs } }: Pick<JobRunPorts, 'storage'>,
  id: string,
): Promise<string | null> {
  const [last] = await logs.tail(id, 1)
  return last?.line ?? null
}
