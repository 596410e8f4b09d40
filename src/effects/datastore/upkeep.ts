// Supervises a datastore: waits until it responds, then sees that its container runs, accepts connections and
// has the wanted limits. One that accepts connections is serving, even while Docker is unavailable.
import type { DatastoreLimits } from '../../../machines/datastore/datastore-context.ts'
import { sleep } from '../../async/sleep.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { explainExit } from '../../docker/containers/exit-explanation.ts'
import type { InstanceState } from '../../docker/containers/instances.ts'
import type { Limits } from '../../docker/containers/spec.ts'
import { datastorePorts } from '../../domain/datastore-urls.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { tryConnection } from '../connection.ts'
import {
  checkDatastore,
  type Datastore,
  findCappedLimit,
  findDatastore,
  limitsOf,
  maskPassword,
} from './access.ts'
import { type DatastorePorts, waitForEngineBriefly } from './kind.ts'

/** Events wake the loop; this interval catches missed events. */
const roundIntervalMs = 3000
const connectTimeoutMs = 2000
/** The number of rounds between two health checks, each of which starts a process in the container. */
const roundsPerHealthCheck = 10
const maxMisses = 3

export async function keepDatastore(ports: DatastorePorts, { id }: { id: string }, signal: AbortSignal) {
  const beganAt = Date.now()
  let misses = 0
  const caughtUp = { revision: 0 }
  let wake = () => {}
  const unsubscribe = ports.instanceEvents.subscribe(id, () => wake())
  try {
    for (let round = 1; ; round++) {
      signal.throwIfAborted()
      const look = { ports, datastore: findDatastore(ports, id), signal }
      const loss = await findLoss(look, caughtUp)
      if (loss !== null) return toLossOutput(beganAt, loss)
      const isQuestioned = round % roundsPerHealthCheck === 0 || misses > 0
      const silence = await findConnectionFailure(look, isQuestioned)
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

function toLossOutput(beganAt: number, message: string) {
  return { code: 'datastore_failed', message, servedMs: Date.now() - beganAt }
}

interface Look {
  ports: DatastorePorts
  datastore: Datastore
  signal: AbortSignal
}

/** The reason why the datastore is certainly down; null while Docker does not report it. */
async function findLoss(look: Look, caughtUp: LimitsProgress): Promise<string | null> {
  const { ports, datastore, signal } = look
  try {
    const state = await ports.instances.inspect(datastore.name)
    if (state?.state !== 'running') return await explainLoss(look)
    if (state.restart !== 'unless-stopped') await ports.instances.setRestart(datastore.name, 'unless-stopped')
    await reconcileLimits(look, state, caughtUp)
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
async function reconcileLimits(look: Look, state: ActualLimits, caughtUp: LimitsProgress): Promise<void> {
  const { revision, settled, trouble } = look.datastore.record.limits
  const wasUnavailable = trouble?.code === 'docker_unavailable'
  if (settled < revision || (trouble !== null && !wasUnavailable)) return
  // For Redis the container's limits are only half of the setting: the server has its own memory limit.
  const isMissed = wasUnavailable && caughtUp.revision !== revision
  if (!isMissed && !(await limitsDiffer(look, state))) return
  await applyLimitsAgain(look)
  caughtUp.revision = revision
}

type ActualLimits = Pick<InstanceState, 'memoryLimitBytes' | 'cpuLimit'>

async function limitsDiffer({ ports, datastore }: Look, state: ActualLimits): Promise<boolean> {
  const wanted = limitsOf(ports, datastore.record)
  if (state.memoryLimitBytes !== wanted.memoryLimitMb * 1024 * 1024) return true
  if (state.cpuLimit === wanted.cpuLimit) return false
  // A limit above the host's CPUs is capped at their number.
  return state.cpuLimit !== Math.min(wanted.cpuLimit, (await ports.engine.info()).cpus)
}

async function findConnectionFailure(
  { ports, datastore, signal }: Look,
  isQuestioned: boolean,
): Promise<string | null> {
  const address = ports.storage.addresses.get(datastore.record.id, 0)
  const port = datastorePorts[datastore.record.kind]
  const target = { address: address!, port, timeoutMs: connectTimeoutMs }
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

/** Includes the time to replay the log after a crash. */
const startTimeoutMs = 10 * 60_000
const firstPauseMs = 100
const maxPauseMs = 1000
const tailLines = 20

/** Afterwards Docker itself restarts the datastore, also after a reboot and without the daemon. */
export async function awaitAnswer(ports: DatastorePorts, { id }: { id: string }, signal: AbortSignal) {
  const datastore = findDatastore(ports, id)
  let reason = 'it has just started'
  try {
    await withTimeout(startTimeoutMs, signal, async (bound) => {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
        const state = await ports.instances.inspect(datastore.name)
        if (state?.state !== 'running')
          throw new Failure('datastore_failed', await explainLoss({ ports, datastore, signal: bound }))
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
    throw new Failure('datastore_failed', `it does not respond within ${duration(startTimeoutMs)}: ${reason}`)
  }
  // The limits may have changed during the start.
  await applyLimitsAgain({ ports, datastore, signal })
  await ports.instances.setRestart(datastore.name, 'unless-stopped')
}

/** A message: the container no longer exists, or how it ended, with the last line of its output. */
async function explainLoss({ ports, datastore, signal }: Look): Promise<string> {
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

/** Without a restart. A datastore without a container gets them when it is created or next started. */
export async function applyLimits(
  ports: DatastorePorts,
  { id }: { id: string } & DatastoreLimits,
  signal: AbortSignal,
) {
  await waitForEngineBriefly(ports, signal)
  return { notice: await setContainerLimits(ports, id, signal) }
}

/**
 * Applies the wanted limits to the container. If they change during the call, the last call applies the
 * newest ones. Resolves with what the host cannot grant. Throws `docker_error` with the reason of a refusal.
 */
export async function setContainerLimits(
  ports: DatastorePorts,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (;;) {
    const datastore = findDatastore(ports, id)
    const limits = limitsOf(ports, datastore.record)
    await updateContainer({ ports, datastore, signal }, limits)
    const isNewest = findDatastore(ports, id).record.limits.revision === datastore.record.limits.revision
    if (isNewest) return findCappedLimit(limits, await ports.engine.info())
  }
}

/** A refusal was reported to the client that set the limits. */
async function applyLimitsAgain({ ports, datastore, signal }: Look): Promise<void> {
  const { id, name } = datastore.record
  try {
    await setContainerLimits(ports, id, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) !== 'docker_error') throw error
    ports.logger.warn({ datastore: name, reason: messageOf(error) }, 'limits were rejected')
  }
}

async function updateContainer({ ports, datastore, signal }: Look, limits: Limits): Promise<void> {
  const { name, kind, credentials } = datastore
  const isThere = await ports.datastores.limit(name, limits)
  const command = kind.limitCommand(credentials, limits.memoryLimitMb)
  if (!command || !isThere || (await ports.instances.inspect(name))?.state !== 'running') return
  const { exitCode, stdout, stderr } = await ports.datastores.run(name, command, { signal })
  const output = maskPassword(`${stdout}${stderr}`.trim(), credentials)
  // A server that is still starting either reads the new limit or gets it afterwards.
  const hasStarted = !/LOADING|Connection refused/i.test(output)
  if (!hasStarted || (exitCode === 0 && output === 'OK')) return
  throw new Failure('docker_error', output || 'it does not respond')
}
