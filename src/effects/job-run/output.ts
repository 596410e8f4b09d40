// Copies the output of a run into its log. The log itself stores the read position, so a restarted daemon
// continues at the next line.
import { sleep } from '../../async/sleep.ts'
import { isEnded } from '../../docker/containers/instance-state.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { openCollectedLog } from '../logs/collected-log.ts'
import type { JobRunPorts } from './ports.ts'

const retryPauseMs = 500

/** Copies until the run has ended. Failed reads are retried, a last time after the end. */
export async function copyOutput(
  ports: JobRunPorts,
  id: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { logs } = ports.storage
  // Lines that were read before count only once they are on disk.
  await logs.flush(id)
  const log = await openCollectedLog(logs, id)
  const writer = { deployId: id, index: 0 }
  const cursor = log.cursor(writer)
  for (let isLast = false, isReported = false; ; isReported = true) {
    try {
      const lines = ports.instances.follow(name, cursor, signal)
      for await (const line of lines) await log.append(writer, line, signal)
      break
    } catch (error) {
      if (codeOf(error) !== 'docker_error') throw error
      if (!isReported) openActorLog(ports, 'job', id).info(`its output cannot be read: ${messageOf(error)}`)
      if (isLast) break
      await sleep(retryPauseMs, signal)
      isLast = !(await isStillRunning(ports, name))
    }
  }
  signal.throwIfAborted()
  await logs.flush(id)
}

async function isStillRunning({ instances }: JobRunPorts, name: string): Promise<boolean> {
  const instance = await instances.inspect(name)
  return instance !== null && !isEnded(instance)
}
