// Determines how a container ended. An exit with code 137 may be an out-of-memory kill: Docker may set the
// flag or emit the event only a moment after it shows the container as ended. Both are therefore checked for
// a while before the exit counts as a plain SIGKILL. An exit with code 0 may be one that Docker did not see.

import { constants, type FileHandle, open } from 'node:fs/promises'
import { sleep } from '../../async/sleep.ts'
import type { Engine } from '../engine/client.ts'
import { hasMissedEnd } from '../engine/events.ts'
import { streamLines } from '../engine/stream-lines.ts'
import { killedExitCode } from './exit-explanation.ts'
import type { InstanceState } from './instance-state.ts'

const doubtMs = 2_500
const pollIntervalMs = 250

/** The state once its end can be believed, without an exit code if that is lost; null when it is gone. */
export async function settleExit(
  engine: Engine,
  inspect: () => Promise<InstanceState | null>,
  signal?: AbortSignal,
): Promise<InstanceState | null> {
  const doubtEndsAt = performance.now() + doubtMs
  for (;;) {
    const state = await inspect()
    if (state?.exitCode === 0 && (await hasMissedEnd(engine, state))) return { ...state, exitCode: null }
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

// The kernel's log of out-of-memory kills. Reading it needs root; without root, no kill is reported.

const path = '/dev/kmsg'
/** One read gives one record, and no record is longer. */
const recordBytes = 8192

/** Whether the kernel killed a process of that container at its memory limit, as far back as it remembers. */
export async function wasKilledForMemory(containerId: string): Promise<boolean> {
  const log = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null)
  if (log === null) return false
  try {
    for await (const record of records(log)) {
      if (record.includes('oom-kill:') && record.includes(containerId)) return true
    }
    return false
  } finally {
    await log.close()
  }
}

async function* records(log: FileHandle): AsyncGenerator<string> {
  const buffer = Buffer.alloc(recordBytes)
  for (;;) {
    try {
      const { bytesRead } = await log.read(buffer, 0, recordBytes, null)
      yield buffer.toString('utf8', 0, bytesRead)
    } catch (error) {
      // EPIPE means that a record was overwritten before it was read: continue with the next one. Any other
      // error ends the log.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return
    }
  }
}
