// The turn of a run: once the policy of its schedule and the limit of the host allow it, it gets the version
// that is live at that moment. The queue is derived from committed records only, so a restarted daemon
// computes the same order.
import type { JobRunInput, Overlap, RunSlot } from '../../../machines/job-run/job-run.ts'
import { Failure } from '../../errors.ts'
import { requireRelease } from '../deploy/release.ts'
import { isoNow } from '../iso-now.ts'
import { type ActorLog, openActorLog } from '../logs/actor-log.ts'
import { waitForCommit, waitForEngine } from '../waiting.ts'
import { cancelWithService } from './cancel-with-service.ts'
import { linesBeforeCommand } from './log-once.ts'
import { ownRuns } from './overlapping-runs.ts'
import type { JobRunPorts } from './ports.ts'

type TurnInput = RunSlot & Pick<JobRunInput, 'command' | 'overlap'>

export function awaitTurn(ports: JobRunPorts) {
  return (input: TurnInput, outer: AbortSignal) =>
    cancelWithService(ports, input.serviceId, outer, async (signal) => {
      const log = openActorLog(ports, 'job', input.id)
      // Also lets runs that continue after a restart of the daemon get their slots back first.
      await waitForEngine(ports, signal, log.info)
      const hasLogged = input.overlap ? await waitForOthers(ports, input, input.overlap, log, signal) : false
      await ports.jobSlots.acquire(input, signal, (running) => {
        if (running !== null) {
          log.info(`waiting for a free slot: ${running} job runs are running (--job-concurrency)`)
        } else if (!hasLogged) log.info('waiting for another run of this service to end')
      })
      return { at: isoNow(), ...findLiveVersion(ports, input) }
    })
}

/** With the policy `replace` it ends the older runs. Returns whether the log mentions the wait. */
async function waitForOthers(
  ports: JobRunPorts,
  { id, serviceId }: TurnInput,
  overlap: Overlap,
  log: ActorLog,
  signal: AbortSignal,
): Promise<boolean> {
  const { actors, changes } = ports.storage
  const before = () => ownRuns(actors, serviceId, id)
  if (overlap === 'replace') {
    for (const other of before()) await replace(ports, other.id, id)
  }
  const logged = await linesBeforeCommand(ports, id)
  await waitForCommit(changes, serviceId, signal, () => {
    const [ahead] = before()
    if (!ahead) return true
    const line = `waiting for ${ahead.id} of this service to end`
    if (!logged.has(line)) log.info(line)
    logged.add(line)
    return null
  })
  return logged.size > 0
}

async function replace(ports: JobRunPorts, otherId: string, id: string): Promise<void> {
  await ports.actors.send(otherId, { type: 'cancel', at: isoNow(), by: `${id}, which replaces it` })
}

/** The run is frozen to this version. Later deploys do not affect it. */
function findLiveVersion(ports: JobRunPorts, { serviceId, command }: TurnInput) {
  const { services, actors } = ports.storage
  const deployId = services.get(serviceId)?.live_deploy_id
  const image = deployId ? actors.record(deployId)?.image : null
  if (!deployId || typeof image !== 'string') {
    throw new Failure('conflict', 'its service is no longer live')
  }
  const { settings } = requireRelease(ports, deployId)
  return { deployId, image, command: command ?? settings.start_command }
}
