// The end of a run that is not to go on: SIGTERM, ten seconds, SIGKILL, and what it wrote until then.
import type { EndedRun, RunSlot } from '../../../machines/job-run/job-run.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import type { InstanceState } from '../../docker/containers/instances.ts'
import { jobKind } from '../../docker/engine/names.ts'
import { codeOf } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import { copyOutput } from './output.ts'

const graceSeconds = 10
/** Until its container goes: who cancels a run that shouts does not wait for the last of it. */
const wholeMs = 11_500
const leastForWordsMs = 1500

export function stopRun(host: Host) {
  return async (input: RunSlot, signal: AbortSignal): Promise<EndedRun> => {
    host.jobSlots.hold(input)
    const beganAt = performance.now()
    let ended: InstanceState | null = null
    await retryUntilCleanedUp(host, input.id, signal, async () => {
      for (const { name } of await host.instances.list({ deployId: input.id, kind: jobKind })) {
        await host.instances.stop(name, graceSeconds)
        ended = await host.instances.inspect(name)
        // What never ran has said nothing, and never will.
        if (!ended || ended.state === 'created') continue
        const leftMs = wholeMs - (performance.now() - beganAt)
        await readLastWords(host, input.id, name, Math.max(leastForWordsMs, leftMs), signal)
      }
    })
    const { exitCode = null, startedAt = null, finishedAt = null } = (ended as InstanceState | null) ?? {}
    return { at: isoNow(), exitCode, startedAt, finishedAt }
  }
}

async function readLastWords(
  host: Host,
  id: string,
  name: string,
  limitMs: number,
  outer: AbortSignal,
): Promise<void> {
  try {
    await withTimeout(limitMs, outer, (signal) => copyOutput(host, id, name, signal))
  } catch (error) {
    outer.throwIfAborted()
    if (codeOf(error) !== 'timeout') throw error
    openActorLog(host, 'job', id).say('it wrote more, which took too long to read')
  }
}
