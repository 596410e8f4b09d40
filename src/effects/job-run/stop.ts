// Stops a run: SIGTERM, ten seconds, SIGKILL. Its output until then is stored.
import type { EndedRun, RunSlot } from '../../../machines/job-run/job-run.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import type { InstanceState } from '../../docker/containers/instances.ts'
import { jobKind } from '../../docker/engine/names.ts'
import { codeOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import { copyOutput } from './output.ts'
import type { JobRunPorts } from './ports.ts'

const graceSeconds = 10
/** The limit for removing the container. Canceling a run with a lot of output does not wait for all of it. */
const removalTimeoutMs = 11_500
const minReadMs = 1500

export function stopRun(ports: JobRunPorts) {
  return async (input: RunSlot, signal: AbortSignal): Promise<EndedRun> => {
    ports.jobSlots.reserve(input)
    const beganAt = performance.now()
    let ended: InstanceState | null = null
    await retryUntilCleanedUp(ports, input.id, signal, async () => {
      for (const { name } of await ports.instances.list({ deployId: input.id, kind: jobKind })) {
        await ports.instances.stop(name, graceSeconds)
        ended = await ports.instances.inspect(name)
        // A container that never ran has no output.
        if (!ended || ended.state === 'created') continue
        const leftMs = removalTimeoutMs - (performance.now() - beganAt)
        await readRemainingOutput(ports, input.id, name, Math.max(minReadMs, leftMs), signal)
      }
    })
    const { exitCode = null, startedAt = null, finishedAt = null } = (ended as InstanceState | null) ?? {}
    return { at: isoNow(), exitCode, startedAt, finishedAt }
  }
}

async function readRemainingOutput(
  ports: JobRunPorts,
  id: string,
  name: string,
  limitMs: number,
  outer: AbortSignal,
): Promise<void> {
  try {
    await withTimeout(limitMs, outer, (signal) => copyOutput(ports, id, name, signal))
  } catch (error) {
    outer.throwIfAborted()
    if (codeOf(error) !== 'timeout') throw error
    openActorLog(ports, 'job', id).info('it wrote more, which took too long to read')
  }
}
