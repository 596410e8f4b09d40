// Follows a run to its end: its output into its log, its exit code into its record. A run that ended while
// the daemon was down keeps its result, even beyond its limit.
import type { FollowedRun, RunFollow } from '../../../machines/job-run/job-run.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { isOutOfMemory } from '../../docker/containers/exit-explanation.ts'
import { isEnded } from '../../docker/containers/instance-state.ts'
import type { InstanceState } from '../../docker/containers/instances.ts'
import { wasEngineRestarted } from '../../docker/engine/events.ts'
import { jobName } from '../../docker/engine/names.ts'
import { codeOf, Failure } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { describeExit } from '../instances/exit.ts'
import { isoNow } from '../iso-now.ts'
import { retryWhileEngineUnavailable } from '../waiting.ts'
import { cancelWithService } from './cancel-with-service.ts'
import { copyOutput } from './output.ts'
import type { JobRunPorts } from './ports.ts'

export function followRun(ports: JobRunPorts) {
  return (input: RunFollow, outer: AbortSignal): Promise<FollowedRun> =>
    cancelWithService(ports, input.serviceId, outer, async (signal) => {
      ports.jobSlots.reserve(input)
      const { name: service } = ports.storage.services.get(input.serviceId)!
      const name = jobName(ports.owner, service, input.id)
      const leftMs = await remainingMs(ports, input, name, signal)
      const readToEnd = async (signal: AbortSignal) => {
        await retryWhileEngineUnavailable(ports, signal, () => copyOutput(ports, input.id, name, signal))
        return retryWhileEngineUnavailable(ports, signal, () => ports.instances.inspectExit(name, signal))
      }
      const isRunning = async () => (await remainingMs(ports, input, name, signal)) !== null
      const exit = await withinLimit(input, leftMs, signal, readToEnd, isRunning)
      if (exit === null) throw new Failure('job_failed', 'its container disappeared while it ran')
      const trouble = await describeFailure(ports, input, exit, signal)
      const code = isOutOfMemory(exit) ? 'out_of_memory' : 'job_failed'
      const { exitCode, startedAt, finishedAt } = exit
      return { at: isoNow(), exitCode, startedAt, finishedAt, trouble, code }
    })
}

/** Null for a run that has ended: its output is read without a limit. */
async function remainingMs(
  ports: JobRunPorts,
  { endsAt, timeoutSeconds }: RunFollow,
  name: string,
  signal: AbortSignal,
) {
  const instance = await retryWhileEngineUnavailable(ports, signal, () => ports.instances.inspect(name))
  if (instance === null || isEnded(instance)) return null
  // Setting the clock back does not extend the limit.
  return Math.min(timeoutSeconds * 1000, Math.max(0, endsAt - Date.now()))
}

async function withinLimit<T>(
  { timeoutSeconds }: RunFollow,
  leftMs: number | null,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  isRunning: () => Promise<boolean>,
): Promise<T> {
  if (leftMs === null) return work(outer)
  try {
    return await withTimeout(leftMs, outer, work)
  } catch (error) {
    if (outer.aborted || codeOf(error) !== 'timeout') throw error
    if (!(await isRunning())) return work(outer)
    throw new Failure(
      'timeout',
      `took longer than its limit of ${duration(timeoutSeconds * 1000)} (--timeout, --job-timeout)`,
    )
  }
}

/** The error message of a failed run; null if it did not fail. */
async function describeFailure(
  ports: JobRunPorts,
  { command }: RunFollow,
  exit: InstanceState,
  signal: AbortSignal,
) {
  if (exit.exitCode === 0) return null
  const { engine, instances } = ports
  const text = await retryWhileEngineUnavailable(ports, signal, () =>
    describeExit(instances, exit, { command }),
  )
  const isRestarted = await retryWhileEngineUnavailable(ports, signal, () => wasEngineRestarted(engine, exit))
  return isRestarted && exit.exitCode !== null && exit.exitCode > 128
    ? `${text}: the Docker engine was restarted`
    : text
}
