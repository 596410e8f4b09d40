// The effects of a job run. Its container is like an instance of the live deploy, except for its command, its
// name and its end.
import type { Duplex } from 'node:stream'
import type { machine, RunConnect, RunFollow, RunSlot, RunStart } from '../../../machines/job-run.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { sleep } from '../../async/sleep.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { isOutOfMemory } from '../../docker/containers/exit-explanation.ts'
import { isEnded } from '../../docker/containers/instance-state.ts'
import type { InstanceSpec, InstanceState } from '../../docker/containers/instances.ts'
import { isForgotten, wasEngineRestarted } from '../../docker/engine/events.ts'
import { jobKind, jobName } from '../../docker/engine/names.ts'
import { inspectImage } from '../../docker/images/images.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { requireRelease } from '../deploy/phase.ts'
import { withDefaults } from '../deploy/start/environment.ts'
import { ensureDisk, instanceSpec } from '../deploy/start/instances.ts'
import { describeExit } from '../instances/exit.ts'
import { isoNow } from '../iso-now.ts'
import { allocateAddress } from '../isolation/isolation.ts'
import { openActorLog } from '../logs/actor-log.ts'
import { openCollectedLog } from '../logs/collected-log.ts'
import { bind } from '../ports.ts'
import { retryUntilCleanedUp, retryWhileEngineUnavailable } from '../waiting.ts'
import type { JobRunPorts } from './ports.ts'
import { awaitTurn, cancelWithService } from './turn.ts'

export function jobRunEffects(ports: JobRunPorts): Effects<typeof machine> {
  return bind(ports, { awaitTurn, awaitInput, startRun, followRun, stopRun, clearRun })
}

function awaitInput(ports: JobRunPorts, { id, serviceId, until }: RunConnect, outer: AbortSignal) {
  const missing = new Failure('input_missing', 'no client sent its input', `berth run --stdin sends it`)
  return cancelWithService(ports, serviceId, outer, async (signal) => {
    ports.jobSlots.reserve(id)
    const untilConnected = (bound: AbortSignal) => ports.runInputs.untilConnected(id, bound)
    await withTimeout(Math.max(0, until - Date.now()), signal, untilConnected, missing)
  })
}

/** An existing container is the run itself, active or ended, and is never created again. */
function startRun(ports: JobRunPorts, input: RunStart, outer: AbortSignal) {
  return cancelWithService(ports, input.serviceId, outer, async (signal) => {
    ports.jobSlots.reserve(input.id)
    if (input.stdin && !ports.runInputs.has(input.id)) throw inputLost()
    const { startedAt } = await retryWhileEngineUnavailable(ports, signal, () => begin(ports, input, signal))
    ports.runInputs.start(input.id)
    return { startedAt: startedAt ?? isoNow() }
  })
}

async function begin(ports: JobRunPorts, input: RunStart, signal: AbortSignal): Promise<InstanceState> {
  const service = ports.storage.services.get(input.serviceId)!
  const name = jobName(ports.owner, service.name, input.id)
  const [found, image] = await Promise.all([
    ports.instances.inspect(name),
    inspectImage(ports.engine, input.image),
  ])
  if (found && found.state !== 'created') return found
  if (!image) {
    throw new Failure('image_gone', `the image ${input.image} no longer exists: it was removed from Docker`)
  }
  const spec = await buildSpec(ports, input, service, signal)
  if (found) await requireNotStarted(ports, input.id, found)
  if (!found) {
    openActorLog(ports, 'job', input.id).info(announcement(input), { mark: 'running' })
    // A kill after the start must not lose it.
    await ports.storage.logs.flush(input.id)
  }
  await ensureDisk(ports, service, spec)
  return ports.instances.ensure(spec, signal)
}

/** An engine that ended while it started the command may not know that it ran. No command runs twice. */
async function requireNotStarted({ engine, storage }: JobRunPorts, id: string, found: InstanceState) {
  const at = storage.actors.record<'job-run'>(id)!.created_at
  const { containerId } = found
  if (!(await isForgotten(engine, { containerId, event: 'create', at }))) return
  const message = 'the Docker engine was restarted while it started the command, which may have run'
  throw new Failure('docker_error', message, 'run it again if it did not')
}

function inputLost(): Failure {
  const message = 'the server was restarted before the command had all of its input, so it was stopped'
  return new Failure('input_lost', message, 'run it again')
}

const shownChars = 200

/** On one line. The record has the full command. */
function announcement({ command }: RunStart): string {
  if (command === null) return "running the image's own command"
  const lines = command.split('\n').map((text) => text.trim())
  const line = lines.filter((text) => text !== '').join(' ↵ ')
  return `running ${line.length > shownChars ? `${line.slice(0, shownChars)}…` : line}`
}

async function buildSpec(
  ports: JobRunPorts,
  { id, serviceId, deployId, image, command, stdin }: RunStart,
  service: ServiceRow,
  signal: AbortSignal,
): Promise<InstanceSpec> {
  const network = await ports.engineReady(signal)
  const address = await allocateAddress(ports, id, 0, network)
  const release = requireRelease(ports, deployId)
  const container = { id, image, index: 0, restart: 'no', address, network: network.name } as const
  const spec = instanceSpec(ports, service, release, container)
  const env = withDefaults(spec.env, { BERTH_JOB_ID: id })
  const takeInput = stdin && { takeInput: (stream: Duplex) => ports.runInputs.attach(id, stream) }
  const name = jobName(ports.owner, service.name, id)
  return { ...spec, name, serviceId, command, env, kind: jobKind, ...takeInput }
}

/** A run that ended while the daemon was down keeps its result, even beyond its limit. */
function followRun(ports: JobRunPorts, input: RunFollow, outer: AbortSignal) {
  return cancelWithService(ports, input.serviceId, outer, (signal) =>
    whileFed(ports, input, signal, (fed) => follow(ports, input, fed)),
  )
}

/** Ends the work with `input_lost` when the input is cut. What was cut is not known after a restart. */
function whileFed<T>(
  { actors, runInputs, storage }: JobRunPorts,
  { id, stdin }: RunFollow,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!stdin || storage.actors.record<'job-run'>(id)?.input_ended_at) return work(outer)
  const watch = (end: (reason: unknown) => void) => {
    const fed = runInputs.has(id) ? runInputs.untilEnded(id) : Promise.reject(inputLost())
    fed.then(() => actors.send(id, { type: 'input.ended', at: isoNow() })).catch(end)
    return () => {}
  }
  return withLinkedSignal(outer, watch, work)
}

async function follow(ports: JobRunPorts, input: RunFollow, signal: AbortSignal) {
  ports.jobSlots.reserve(input.id)
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
  const { exitCode, startedAt, finishedAt } = exit
  const failed = exitCode === null ? 'docker_error' : 'job_failed'
  const code = isOutOfMemory(exit) ? 'out_of_memory' : failed
  return { exitCode, startedAt, finishedAt, trouble, code }
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

const graceSeconds = 10
/** The limit for removing the container. Canceling a run with a lot of output does not wait for all of it. */
const removalTimeoutMs = 11_500
const minReadMs = 1500

/** SIGTERM, ten seconds, SIGKILL. The output until then is stored. */
async function stopRun(ports: JobRunPorts, input: RunSlot, signal: AbortSignal) {
  ports.jobSlots.reserve(input.id)
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
  return { exitCode, startedAt, finishedAt }
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

const retryPauseMs = 500

/** The log has the read position, so a restarted daemon continues at the next line. Retries failed reads. */
async function copyOutput(ports: JobRunPorts, id: string, name: string, signal: AbortSignal): Promise<void> {
  const { logs } = ports.storage
  // Lines that were read before count only once they are on disk.
  await logs.flush(id)
  const log = await openCollectedLog(logs, id)
  const writer = { deployId: id, index: 0 }
  const cursor = log.cursor(writer)
  for (let isLast = false, isReported = false; ; isReported = true) {
    try {
      const lines = ports.instances.follow(name, cursor, signal)
      for await (const line of lines) await log.append(writer, line, signal)
      break
    } catch (error) {
      if (codeOf(error) !== 'docker_error') throw error
      if (!isReported) openActorLog(ports, 'job', id).info(`its output cannot be read: ${messageOf(error)}`)
      if (isLast) break
      await sleep(retryPauseMs, signal)
      isLast = !(await isStillRunning(ports, name))
    }
  }
  signal.throwIfAborted()
  await logs.flush(id)
}

async function isStillRunning({ instances }: JobRunPorts, name: string): Promise<boolean> {
  const instance = await instances.inspect(name)
  return instance !== null && !isEnded(instance)
}

/** Clients that follow the log do not wait for the container, the address and old runs. */
async function clearRun(
  ports: JobRunPorts,
  { id, serviceId, outcome }: RunSlot & { outcome: string },
  signal: AbortSignal,
) {
  await openActorLog(ports, 'job', id).close(outcome)
  // The container has ended, so the slot is free before Docker has removed the container.
  ports.jobSlots.release(id)
  ports.runInputs.close(id)
  await retryUntilCleanedUp(ports, id, signal, () => removeRunContainers(ports, { deployId: id }))
  await ports.storage.addresses.release(id)
  const { actors } = ports.storage
  for (const old of await actors.removeOlder('job-run', serviceId, ports.settings.keepRuns)) {
    await ports.storage.logs.remove(old)
  }
}

export async function removeRunContainers(
  ports: Pick<JobRunPorts, 'instances'>,
  of: { deployId: string } | { serviceId: string },
) {
  for (const { name } of await ports.instances.list({ ...of, kind: jobKind })) {
    await ports.instances.remove(name)
  }
}
