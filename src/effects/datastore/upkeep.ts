// Supervises a serving datastore: its container runs, it accepts connections and responds, and it has the
// wanted limits. If Docker is unavailable but the datastore accepts connections, it is still serving.
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import type { InstanceState } from '../../docker/containers/instances.ts'
import { datastorePorts } from '../../domain/datastore-urls.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import { tryConnection } from '../try-connection.ts'
import { checkDatastore, type Datastore, findDatastore, limitsOf } from './access.ts'
import { applyLimitsAgain } from './limits.ts'
import type { DatastorePorts } from './ports.ts'
import { explainLoss } from './probe.ts'

/** Events wake the loop; this interval catches missed events. */
const roundIntervalMs = 3000
const connectTimeoutMs = 2000
/** The number of rounds between two health checks, each of which starts a process in the container. */
const roundsPerHealthCheck = 10
/** Failed probes in a row. */
const maxMisses = 3

export function keepDatastore(ports: DatastorePorts) {
  return async ({ id }: { id: string }, signal: AbortSignal) => {
    const beganAt = Date.now()
    let misses = 0
    const caughtUp = { revision: 0 }
    let wake = () => {}
    const unsubscribe = ports.instanceEvents.subscribe(id, () => wake())
    try {
      for (let round = 1; ; round++) {
        signal.throwIfAborted()
        const datastore = findDatastore(ports, id)
        const loss = await findLoss(ports, datastore, caughtUp, signal)
        if (loss !== null) return toLossOutput(beganAt, loss)
        const isQuestioned = round % roundsPerHealthCheck === 0 || misses > 0
        const silence = await findConnectionFailure(ports, datastore, isQuestioned, signal)
        misses = silence === null ? 0 : misses + 1
        if (misses >= maxMisses) return toLossOutput(beganAt, `it does not respond: ${silence}`)
        await waitForWake(
          (listener) => (wake = listener),
          misses > 0 ? connectTimeoutMs / 2 : roundIntervalMs,
          signal,
        )
      }
    } finally {
      unsubscribe()
    }
  }
}

function toLossOutput(beganAt: number, message: string) {
  return { at: isoNow(), code: 'datastore_failed', message, servedMs: Date.now() - beganAt }
}

/** The reason why the datastore is certainly down; null while Docker does not report it. */
async function findLoss(
  ports: DatastorePorts,
  datastore: Datastore,
  caughtUp: LimitsProgress,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const state = await ports.instances.inspect(datastore.name)
    if (state?.state !== 'running') return await explainLoss(ports, datastore, signal)
    if (state.restart !== 'unless-stopped') await ports.instances.setRestart(datastore.name, 'unless-stopped')
    await reconcileLimits(ports, datastore, state, caughtUp, signal)
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) !== 'docker_unavailable') throw error
    return null
  }
}

/** The newest limits that were applied here because Docker was unavailable when they were set. */
interface LimitsProgress {
  revision: number
}

/** Applies changes from when there was no container or no Docker. A refusal has been reported already. */
async function reconcileLimits(
  ports: DatastorePorts,
  datastore: Datastore,
  state: ActualLimits,
  caughtUp: LimitsProgress,
  signal: AbortSignal,
): Promise<void> {
  const { revision, settled, trouble } = datastore.record.limits
  const wasUnavailable = trouble?.code === 'docker_unavailable'
  if (settled < revision || (trouble !== null && !wasUnavailable)) return
  // For Redis the container's limits are only half of the setting: the server has its own memory limit.
  const isMissed = wasUnavailable && caughtUp.revision !== revision
  if (!isMissed && !(await limitsDiffer(ports, datastore.record, state))) return
  await applyLimitsAgain(ports, datastore, signal)
  caughtUp.revision = revision
}

type ActualLimits = Pick<InstanceState, 'memoryLimitBytes' | 'cpuLimit'>

async function limitsDiffer(
  ports: DatastorePorts,
  record: DatastoreRecord,
  state: ActualLimits,
): Promise<boolean> {
  const wanted = limitsOf(ports, record)
  if (state.memoryLimitBytes !== wanted.memoryLimitMb * 1024 * 1024) return true
  if (state.cpuLimit === wanted.cpuLimit) return false
  // A limit above the host's CPUs is capped at their number.
  return state.cpuLimit !== Math.min(wanted.cpuLimit, (await ports.engine.info()).cpus)
}

async function findConnectionFailure(
  ports: DatastorePorts,
  datastore: Datastore,
  isQuestioned: boolean,
  signal: AbortSignal,
): Promise<string | null> {
  const address = ports.storage.addresses.get(datastore.record.id, 0)
  const target = {
    address: address!,
    port: datastorePorts[datastore.record.kind],
    timeoutMs: connectTimeoutMs,
  }
  const refusal = await tryConnection(target, new Error('it accepts no connections'), signal)
  if (refusal !== null || !isQuestioned) return refusal?.message ?? null
  try {
    const refusal = await checkDatastore(ports, datastore, signal)
    return refusal !== null && datastore.kind.isLoading(refusal) ? null : refusal
  } catch (error) {
    signal.throwIfAborted()
    return codeOf(error) === 'docker_unavailable' ? null : messageOf(error)
  }
}
