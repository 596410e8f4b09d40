// The turn of a run: once the policy of its schedule and the limit of the host allow it, it gets the version
// that is live at that moment. The queue is derived from committed records only, so a restarted daemon
// computes the same order.
import type { JobRunInput, JobRunRecord, Overlap, RunSlot } from '../../../machines/job-run.ts'
import type { Storage } from '../../../storage/index.ts'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { Failure } from '../../errors.ts'
import { requireRelease } from '../deploy/phase.ts'
import { isoNow } from '../iso-now.ts'
import { type ActorLog, openActorLog } from '../logs/actor-log.ts'
import { waitForCommit, waitForEngine } from '../waiting.ts'
import type { JobRunPorts } from './ports.ts'

type TurnInput = RunSlot & Pick<JobRunInput, 'command' | 'overlap'>

export function awaitTurn(ports: JobRunPorts, input: TurnInput, outer: AbortSignal) {
  return cancelWithService(ports, input.serviceId, outer, async (signal) => {
    const log = openActorLog(ports, 'job', input.id)
    // Also lets runs that continue after a restart of the daemon get their slots back first.
    await waitForEngine(ports, signal, log.info)
    if (input.overlap) await waitForOthers(ports, input, input.overlap, log, signal)
    await ports.jobSlots.acquire(input.id, signal, (running) =>
      log.info(`waiting for a free slot: ${running} job runs are running (--job-concurrency)`),
    )
    return findLiveVersion(ports, input)
  })
}

/** With the policy `replace` it ends the older runs. */
async function waitForOthers(
  ports: JobRunPorts,
  { id, serviceId }: TurnInput,
  overlap: Overlap,
  log: ActorLog,
  signal: AbortSignal,
): Promise<void> {
  const { actors, changes } = ports.storage
  const before = () => ownRuns(actors, serviceId, id)
  if (overlap === 'replace') {
    for (const other of before()) await replace(ports, other.id, id)
  }
  let logged = ''
  await waitForCommit(changes, serviceId, signal, () => {
    const [ahead] = before()
    if (!ahead) return true
    if (ahead.id !== logged) log.info(`waiting for ${ahead.id} of this service to end`)
    logged = ahead.id
    return null
  })
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

type Actors = Pick<Storage['actors'], 'active' | 'record'>

/**
 * Unfinished runs of the service's own command, oldest first; `before`: only older ones. Commands of a user,
 * without `overlap`, run in parallel. A canceled run counts until its container is gone.
 */
export function* ownRuns(actors: Actors, serviceId: string, before?: string): Iterable<JobRunRecord> {
  for (const { id } of actors.active('job-run', serviceId)) {
    if (before !== undefined && id >= before) return
    const record = actors.record<'job-run'>(id)
    if (record && record.overlap !== null && isUnfinished(record)) yield record
  }
}

/** A run whose command has ended only waits for its cleanup. */
function isUnfinished({ status }: JobRunRecord): boolean {
  return status !== 'succeeded' && status !== 'failed'
}

/** The work's signal ends with the outer one, or with `withdrawn` as soon as the service runs nothing. */
export function cancelWithService<T>(
  { storage }: Pick<JobRunPorts, 'storage'>,
  serviceId: string,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const watch = (end: (reason: unknown) => void) => {
    const look = () => {
      const service = storage.services.get(serviceId)
      const what = !service || service.deleting ? 'removal' : service.suspended ? 'suspension' : null
      if (what) end(new Failure('withdrawn', `canceled by the ${what} of its service`))
    }
    look()
    return storage.changes.subscribe((change) => {
      if (change.kind === 'service' && change.id === serviceId) look()
    })
  }
  return withLinkedSignal(outer, watch, async (signal) => {
    signal.throwIfAborted()
    return work(signal)
  })
}
