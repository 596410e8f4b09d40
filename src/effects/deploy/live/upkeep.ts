// Supervises the instances of a live deploy: as many as the service wants, running, until another deploy
// is live. Desired state is the service row, see `Duty`. Observed state comes from Docker. Each round
// reads both.

import type { CronScheduleInput } from '../../../../machines/cron-schedule.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { sleep } from '../../../async/sleep.ts'
import type { InstanceState } from '../../../docker/containers/instances.ts'
import { scheduleIdOf } from '../../../domain/service-types.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { planOf } from '../../cron-schedule/cron-schedule.ts'
import { isoNow } from '../../iso-now.ts'
import { waitForCommit } from '../../waiting.ts'
import { createHealthcheck, findUnhealthy, tryProbe } from '../check/check.ts'
import type { Healthcheck } from '../check/probes.ts'
import { removeAbandoned, stopInstances, waitUntilDrained } from '../end/drain.ts'
import { removeOldImages } from '../end/retention.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { usesDisk } from '../start/disk-claim.ts'
import { ensureInstance } from '../start/instances.ts'
import {
  admit,
  drainEnded,
  drainUpstreamsBestEffort,
  isAdmitted,
  isBehindEdge,
  releaseSlots,
} from '../switch/upstreams.ts'
import { createHealth, type Health } from './health.ts'
import { createWakeSignal } from './wake-signal.ts'

/** Events wake the loop; this interval catches missed events. */
const roundIntervalMs = 5000
/** The interval while a running instance does not pass its check yet. */
const unreadyIntervalMs = 250
const edgeTimeoutMs = 5000
/** The drain time if the next version waits for the disk. */
const briefDrainMs = 3000
/** Transient failures: the next round may succeed. */
const transientCodes = [
  'docker_error',
  'disk_in_use',
  'no_address_left',
  'edge_unavailable',
  'not_reached',
  'instance_failed',
]

export async function keepInstances(phase: DeployPhase, { image }: { image: string }) {
  const { ports, id, serviceId, signal } = phase
  await phase.log.close('live')
  const health = createHealth()
  const wakeSignal = createWakeSignal(ports, id, serviceId, ({ name, exitCode }) => {
    if (health.sawExit(name)) ports.logger.warn({ instance: name, exitCode }, 'a live instance ended')
  })
  const attempt = createAttempt(phase)
  const scaleDown = createScaleDown(phase)
  const healthcheck = createHealthcheck(ports)
  const upkeep: Upkeep = { phase, image, health, healthcheck, scaleDown, wake: wakeSignal.wake }
  try {
    await attempt(() => removeAbandoned(ports, serviceId, signal))
    await attempt(() => removeOldImages(ports, serviceId))
    for (;;) {
      signal.throwIfAborted()
      const service = ports.storage.services.get(serviceId)
      const duty = dutyOf(ports, id, service)
      // The time to drain counts from here, not from the end of a scale-down.
      if (!service || duty === 'over') return { at: isoNow() }
      if (duty === 'scheduled') {
        await superviseSchedule(phase, service)
        continue
      }
      const outcome = await attempt(() => reconcileOnce(upkeep))
      await wakeSignal.next(outcome === 'unready' ? unreadyIntervalMs : roundIntervalMs, signal)
    }
  } finally {
    wakeSignal.close()
    await scaleDown.close()
    ports.degradedReasons.delete(id)
  }
}

/** Returns null on a transient failure: a live deploy is never abandoned. A repeated one is logged once. */
function createAttempt(phase: DeployPhase) {
  const { ports, id: deploy, serviceId, signal } = phase
  let logged: string | null = null
  return async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      const result = await phase.withEngine(work)
      logged = null
      return result
    } catch (error) {
      if (signal.aborted || !transientCodes.includes(codeOf(error))) throw error
      const reason = messageOf(error)
      ports.degradedReasons.set(deploy, reason)
      if (reason !== logged) {
        const service = ports.storage.services.get(serviceId)?.name
        ports.logger.warn({ service, deploy, reason }, 'a live deploy cannot reach its desired state')
      }
      logged = reason
      return null
    }
  }
}

interface Upkeep {
  phase: DeployPhase
  image: string
  health: Health
  healthcheck: Healthcheck
  scaleDown: ScaleDown
  wake: () => void
}

/** `unready`: an instance that runs does not get requests yet. */
type Outcome = 'complete' | 'unready'

/** One round: removes surplus instances, creates or starts missing ones, and reports the state. */
async function reconcileOnce(upkeep: Upkeep): Promise<Outcome> {
  const { phase, health, scaleDown } = upkeep
  const { ports, id, serviceId } = phase
  const found = await phase.listInstances()
  // Read after Docker has responded, because an unavailable engine may have delayed the round.
  const service = ports.storage.services.get(serviceId)
  const duty = dutyOf(ports, id, service)
  if (!service || duty === 'over' || duty === 'scheduled') return 'complete'
  const wanted = instancesFor(duty, service)
  if (found.some(({ index }) => index >= wanted)) removeSurplus(upkeep, service, duty, wanted, found)
  // The daemon may have been killed between removing an instance and releasing its address.
  else if (ports.storage.addresses.get(id, wanted)) await ports.storage.addresses.release(id, wanted)
  const isSettled = found.length === wanted && found.every(({ state }) => state === 'running')
  const count = Math.min(wanted, scaleDown.fromIndex ?? wanted)
  try {
    for (let index = 0; index < count; index++) {
      const instance = found.find((candidate) => candidate.index === index)
      await reconcileInstance(upkeep, service, duty, index, instance)
      if (instance) health.expectRunning(instance.name)
    }
    // During a switch to another deploy, that deploy decides which instances serve.
    if (duty !== 'serving' || !isBehindEdge(ports, service)) return 'complete'
    return await reconcileUpstreams(upkeep, count)
  } finally {
    const now = isSettled ? found : await phase.listInstances()
    await report(phase, health.findShortfall(now, wanted) ?? findUnhealthy(phase, now))
  }
}

/** Runs in the background, because open requests may last long. */
function removeSurplus(
  { phase, health, scaleDown, wake }: Upkeep,
  service: ServiceRow,
  duty: Duty,
  wanted: number,
  found: InstanceState[],
): void {
  const { ports, id, serviceId } = phase
  const isWantedAgain = () => {
    const row = ports.storage.services.get(serviceId)
    return instancesFor(dutyOf(ports, id, row), row) > wanted
  }
  // A worker has no clients, so it has nothing to finish.
  const drainMs = service.type === 'background_worker' ? 0 : service.drain_seconds * 1000
  const isHurried = duty === 'yielding'
  if (isHurried && !ports.downtimes.has(serviceId)) ports.downtimes.set(serviceId, Date.now())
  const limitMs = isHurried ? Math.min(briefDrainMs, drainMs) : drainMs
  const surplus = found.filter(({ index }) => index >= wanted)
  const onStop = () => surplus.forEach(({ name }) => void health.expectExit(name))
  scaleDown.begin({ fromIndex: wanted, limitMs }, { isWantedAgain, onStop, onEnd: wake })
}

/** An instance that passed its check gets requests. One that ended gets none until it passes again. */
async function reconcileUpstreams({ phase, health, healthcheck }: Upkeep, count: number): Promise<Outcome> {
  const { ports, id, serviceId } = phase
  const instances = (await phase.listInstances()).filter(({ index }) => index < count)
  await drainEnded(phase, instances, count)
  const running = instances.filter(({ state }) => state === 'running')
  const passed: InstanceState[] = []
  let unready: string | null = null
  for (const instance of running) {
    if (isAdmitted(phase, instance)) continue
    const response = await tryProbe(phase, instance, healthcheck)
    if (response === null) passed.push(instance)
    else unready = `instance ${instance.index + 1} does not pass its check: ${response}`
  }
  // A probe may be slow. If another deploy is about to serve, that deploy decides.
  if (dutyOf(ports, id, ports.storage.services.get(serviceId)) !== 'serving') return 'complete'
  try {
    await admit(phase, passed, edgeTimeoutMs)
  } catch (error) {
    unready = messageOf(error)
    throw error
  } finally {
    health.sawUnready(unready)
  }
  return running.every((instance) => isAdmitted(phase, instance)) ? 'complete' : 'unready'
}

/** Docker restarts a crashed instance; one that it no longer restarts, or has lost, is restored here. */
async function reconcileInstance(
  { phase, image }: Upkeep,
  service: ServiceRow,
  duty: Duty,
  index: number,
  instance: InstanceState | undefined,
): Promise<void> {
  const restart = duty === 'serving' ? 'unless-stopped' : 'no'
  const runs = instance?.state === 'running' || instance?.state === 'restarting'
  if (!runs) await ensureInstance(phase, service, { image, index, restart })
  if (instance && instance.restart !== restart) await phase.ports.instances.setRestart(instance.name, restart)
}

/** Sends an event only on a change, because each event is a commit. */
async function report({ ports, id }: DeployPhase, shortfall: string | null): Promise<void> {
  if (shortfall === null) ports.degradedReasons.delete(id)
  else ports.degradedReasons.set(id, shortfall)
  const degraded = shortfall !== null
  const row = ports.storage.actors.get(id)
  const known = (row?.snapshot as { context?: { degraded?: boolean } } | undefined)?.context?.degraded
  if (known !== degraded) await ports.actors.send(id, { type: 'instances.reported', at: isoNow(), degraded })
}

type Duty =
  /** Instances run and get requests, and Docker restarts them after a reboot. */
  | 'serving'
  /** Another deploy is about to serve. Instances run until it is live, but a reboot must not start both. */
  | 'outgoing'
  /** Another deploy waits for the disk: instances are stopped, and open requests get little time. */
  | 'yielding'
  /** The service is suspended: instances are stopped, and open requests get their full time. */
  | 'suspended'
  /** The service is a cron job: no instance runs, its schedule starts job runs. */
  | 'scheduled'
  /** Another deploy is live, or the service is being deleted: upkeep ends. */
  | 'over'

export function dutyOf(ports: Pick<DeployPorts, 'storage'>, id: string, service: ServiceRow | null): Duty {
  if (!service || service.deleting || service.live_deploy_id !== id) return 'over'
  if (service.type === 'cron_job') return 'scheduled'
  if (service.suspended) return 'suspended'
  const desired = service.desired_deploy_id
  if (desired === id) return 'serving'
  return usesDisk(ports, id) && usesDisk(ports, desired) ? 'yielding' : 'outgoing'
}

export function instancesFor(duty: Duty, service: ServiceRow | null): number {
  return duty === 'serving' || duty === 'outgoing' ? (service?.instances ?? 0) : 0
}

/** A schedule is a separate actor, which continues with the next live deploy. */
async function superviseSchedule(
  { ports, id: deployId, signal }: DeployPhase,
  service: ServiceRow,
): Promise<void> {
  const { id: serviceId } = service
  const id = scheduleIdOf(serviceId)
  const plan = planOf(service)
  if (plan) await startSchedule(ports, id, { id, serviceId, plan, at: isoNow() })
  await waitForCommit(ports.storage.changes, serviceId, signal, () => {
    const now = ports.storage.services.get(serviceId)
    return now && !now.deleting && now.live_deploy_id === deployId ? null : true
  })
}

/** A schedule that cannot start reports why itself: the deploy is not at fault, and manual runs work. */
async function startSchedule(
  { actors, logger }: DeployPorts,
  id: string,
  input: CronScheduleInput,
): Promise<void> {
  try {
    await actors.spawn('cron-schedule', id, input)
  } catch (error) {
    if (codeOf(error) === 'commit_failed') throw error
    logger.error({ schedule: id, reason: messageOf(error) }, 'a schedule could not be started')
  }
}

const retryPauseMs = 1000

interface ScaleDownRequest {
  fromIndex: number
  /** How long open requests may last. */
  limitMs: number
}

interface Hooks {
  isWantedAgain: () => boolean
  onStop: () => void
  onEnd: () => void
}

interface ScaleDown {
  /** Instances from this index on are being removed; null when none are. */
  readonly fromIndex: number | null
  /** Does nothing while instances are being removed. */
  begin(request: ScaleDownRequest, hooks: Hooks): void
  /** Aborts a running scale-down, and resolves when it has ended. */
  close(): Promise<void>
}

/** Removes surplus instances: first no new requests, then time for open requests, then the stop. */
function createScaleDown(supervising: DeployPhase): ScaleDown {
  const closing = new AbortController()
  const phase = supervising.withSignal(closing.signal)
  const { ports, id, signal } = phase
  let current: { fromIndex: number; ended: Promise<void> } | null = null

  const remove = async ({ fromIndex, limitMs }: ScaleDownRequest, { isWantedAgain, onStop }: Hooks) => {
    const port = (ports.storage.actors.record(id)?.port as number | null) ?? 0
    const drainRequest = { port, fromIndex, drainUntil: Date.now() + limitMs }
    await drainUpstreamsBestEffort(ports, phase, signal, fromIndex)
    await phase.withEngine(() => waitUntilDrained(phase, drainRequest, isWantedAgain))
    if (isWantedAgain()) return
    onStop()
    await phase.withEngine(() => stopInstances(ports, id, fromIndex))
    await releaseSlots(ports, phase, signal, fromIndex)
  }
  const removeOrWarn = (request: ScaleDownRequest, hooks: Hooks) =>
    remove(request, hooks).catch(async (error: unknown) => {
      if (signal.aborted) return
      ports.logger.warn({ deploy: id, reason: messageOf(error) }, 'instances could not be stopped; retrying')
      // The next round starts as soon as this one has ended, and Docker may refuse again immediately.
      await sleep(retryPauseMs, signal).catch(() => undefined)
    })

  return {
    get fromIndex() {
      return current?.fromIndex ?? null
    },
    begin(request, hooks) {
      if (current) return
      const ended = removeOrWarn(request, hooks).then(() => {
        current = null
        hooks.onEnd()
      })
      current = { fromIndex: request.fromIndex, ended }
    },
    async close() {
      closing.abort()
      await current?.ended
    },
  }
}
