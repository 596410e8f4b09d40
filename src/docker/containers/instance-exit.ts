// Determines whether an exit with code 137 was an out-of-memory kill. Docker may set the flag or emit the
// event only a moment after it shows the container as ended. Both are therefore checked for a while before
// the exit counts as a plain SIGKILL.
import { sleep } from '../../async/sleep.ts'
import type { Engine } from '../engine/client.ts'
import { streamLines } from '../engine/stream-lines.ts'
import { killedExitCode } from './exit-explanation.ts'
import type { InstanceState } from './instance-state.ts'
import { wasKilledForMemory } from './oom-log.ts'

const doubtMs = 2_500
const pollIntervalMs = 250

/** The state once its `oomKilled` can be believed; null when the container is gone. */
export async function settleExit(
  engine: Engine,
  inspect: () => Promise<InstanceState | null>,
  signal?: AbortSignal,
): Promise<InstanceState | null> {
  const doubtEndsAt = performance.now() + doubtMs
  for (;;) {
    const state = await inspect()
    if (state === null || state.exitCode !== killedExitCode || state.oomKilled) return state
    if (await hadOomEvent(engine, state)) return { ...state, oomKilled: true }
    // Engines miss a kill now and then when the container ends with it; the kernel does not.
    if (await wasKilledForMemory(state.containerId)) return { ...state, oomKilled: true }
    if (performance.now() > doubtEndsAt) return state
    await sleep(pollIntervalMs, signal)
  }
}

// An `until` in the future would make the engine wait for that time.
async function hadOomEvent(engine: Engine, state: InstanceState): Promise<boolean> {
  const { startedAt, finishedAt, containerId } = state
  if (startedAt === null || finishedAt === null) return false
  const since = Date.parse(startedAt) / 1000
  const until = Math.max(Date.now(), Date.parse(finishedAt)) / 1000
  const filters = { type: ['container' as const], event: ['oom'], container: [containerId] }
  return engine.call(`look for an OOM kill of ${state.name}`, async (abortSignal) => {
    const events = await engine.docker.getEvents({ since, until, filters, abortSignal })
    for await (const _ of streamLines(events)) return true
    return false
  })
}
