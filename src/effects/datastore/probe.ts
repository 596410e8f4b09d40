// Waits until a datastore responds, and explains why it does not.
import { sleep } from '../../async/sleep.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { explainExit } from '../../docker/containers/exit-explanation.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { isoNow } from '../iso-now.ts'
import { checkDatastore, type Datastore, findDatastore, maskPassword } from './access.ts'
import { applyLimitsAgain } from './limits.ts'
import type { DatastorePorts } from './ports.ts'

/** Includes the time to replay the log after a crash. */
const startTimeoutMs = 10 * 60_000
const firstPauseMs = 100
const maxPauseMs = 1000
const tailLines = 20

/** Afterwards Docker itself restarts the datastore, also after a reboot and without the daemon. */
export function awaitAnswer(ports: DatastorePorts) {
  return async ({ id }: { id: string }, signal: AbortSignal) => {
    const datastore = findDatastore(ports, id)
    let reason = 'it has just started'
    try {
      await withTimeout(startTimeoutMs, signal, async (bound) => {
        for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
          const state = await ports.instances.inspect(datastore.name)
          if (state?.state !== 'running')
            throw new Failure('datastore_failed', await explainLoss(ports, datastore, bound))
          const refusal = await checkDatastore(ports, datastore, bound).catch((error: unknown) => {
            // The container ended during the check. The next inspection shows how.
            if (codeOf(error) !== 'docker_error') throw error
            return messageOf(error)
          })
          if (refusal === null) return
          reason = refusal
          await sleep(pauseMs, bound)
        }
      })
    } catch (error) {
      signal.throwIfAborted()
      if (codeOf(error) !== 'timeout') throw error
      throw new Failure(
        'datastore_failed',
        `it does not respond within ${duration(startTimeoutMs)}: ${reason}`,
      )
    }
    // The limits may have changed during the start.
    await applyLimitsAgain(ports, datastore, signal)
    await ports.instances.setRestart(datastore.name, 'unless-stopped')
    return { at: isoNow() }
  }
}

/** A message: the container no longer exists, or how it ended, with the last line of its output. */
export async function explainLoss(
  ports: DatastorePorts,
  datastore: Datastore,
  signal: AbortSignal,
): Promise<string> {
  const state = await ports.instances.inspectExit(datastore.name, signal)
  if (state === null) return 'its container no longer exists'
  if (state.state === 'paused') return `its container is paused: docker unpause ${datastore.name}`
  if (state.state === 'running') return 'it does not respond'
  const lastLine = await lastOutputLine(ports, datastore, state.startedAt)
  return `it ${explainExit(state, { command: null })}${lastLine === null ? '' : `: ${lastLine}`}`
}

/** From the output since the last start: the newest line with a serious error, or else the last line. */
async function lastOutputLine(
  ports: DatastorePorts,
  { name, credentials }: Datastore,
  startedAt: string | null,
) {
  const output = await ports.instances.tail(name, tailLines, startedAt).catch(() => [])
  const lines = output.map(({ line }) => line.trim()).filter((line) => line !== '')
  const line = lines.findLast((line) => /fatal|panic|error|killed|no space/i.test(line)) ?? lines.at(-1)
  return line === undefined ? null : maskPassword(line, credentials).slice(0, 300)
}
