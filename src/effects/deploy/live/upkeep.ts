// Supervising the instances of a live deploy: as many as the service wants, running, until another is live.
// Mind: desired state is the service row, observed state is Docker's answer; both are read anew each round.
import type { ServiceRow } from '../../../../storage/services.ts'
import type { InstanceState } from '../../../docker/containers/instances.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { isoNow } from '../../iso-now.ts'
import { retryWhileEngineAway } from '../../waiting.ts'
import { createHealthcheck, findUnhealthy } from '../check/healthcheck.ts'
import { tryProbe } from '../check/probe.ts'
import type { Healthcheck } from '../check/probes.ts'
import { removeAbandoned } from '../end/drain.ts'
import { removeOldImages } from '../end/retention.ts'
import { openDeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { removeWork } from '../source/source.ts'
import { usesDisk } from '../start/disk-claim.ts'
import { ensureInstance } from '../start/instances.ts'
import { admit, isAdmitted, isServed, takeOutEnded } from '../switch/upstreams.ts'
import { createHealth, type Health } from './health.ts'
import { createDepartures, type Departures } from './scale-down.ts'
import { keepSchedule } from './schedule.ts'
import { createNudge } from './wake-signal.ts'

interface UpkeepInput {
  id: string
  serviceId: string
  image: string
}

/** Events wake it at once; this is for what no event told. */
const roundMs = 5000
/** While an instance runs that does not pass its check yet. */
const impatientMs = 250
/** How long a round waits for an edge that is away. */
const edgeMs = 5000
/** How long what is open may go on where the next version waits for the disk. */
const briefDrainMs = 3000
/** Failures that the next round may not meet again. */
const passing = [
  'docker_error',
  'disk_in_use',
  'no_address_left',
  'edge_unavailable',
  'not_reached',
  'instance_failed',
]

export function keepInstances(ports: DeployPorts) {
  return async (input: UpkeepInput, signal: AbortSignal) => {
    const { id, serviceId } = input
    await openDeployLog(ports, id).close('live')
    // Notes of a pull, for a restart before now: nothing that a live deploy could fail by.
    await removeWork(ports, id).catch(() => undefined)
    const health = createHealth()
    const nudge = createNudge(ports, id, serviceId, ({ name, exitCode }) => {
      if (health.sawExit(name)) ports.logger.warn({ instance: name, exitCode }, 'a live instance ended')
    })
    const trying = createPatience(ports, input, signal)
    const departures = createDepartures(ports, input)
    const healthcheck = createHealthcheck(ports)
    const upkeep: Upkeep = { ports, input, health, healthcheck, departures, wake: nudge.wake, signal }
    try {
      await trying(() => removeAbandoned(ports, serviceId, signal))
      await trying(() => removeOldImages(ports, serviceId))
      for (;;) {
        signal.throwIfAborted()
        const service = ports.storage.services.get(serviceId)
        if (!service || service.deleting || service.live_deploy_id !== id) return { at: isoNow() }
        if (service.type === 'cron_job') {
          await keepSchedule(ports, id, service, signal)
          continue
        }
        let isComplete = true
        await trying(async () => {
          isComplete = await keepOnce(upkeep, service)
        })
        await nudge.next(isComplete ? roundMs : impatientMs, signal)
      }
    } finally {
      nudge.close()
      await departures.close()
      ports.degradedReasons.clear(id)
    }
  }
}

/** What cannot be done now is said once and tried again next round: a live deploy is never given up. */
function createPatience(ports: DeployPorts, { id: deploy, serviceId }: UpkeepInput, signal: AbortSignal) {
  let told: string | null = null
  return async (work: () => Promise<void>): Promise<void> => {
    try {
      await retryWhileEngineAway(ports, signal, work)
      told = null
    } catch (error) {
      if (signal.aborted || !passing.includes(codeOf(error))) throw error
      const reason = messageOf(error)
      ports.degradedReasons.report(deploy, reason)
      if (reason !== told) {
        const service = ports.storage.services.get(serviceId)?.name
        ports.logger.warn({ service, deploy, reason }, 'a live deploy does not get what it needs')
      }
      told = reason
    }
  }
}

interface Upkeep {
  ports: DeployPorts
  input: UpkeepInput
  health: Health
  healthcheck: Healthcheck
  departures: Departures
  wake: () => void
  signal: AbortSignal
}

/**
 * One round: too many leave, too few are made or started, and what is seen is reported. Answers false when
 * an instance that runs does not serve yet.
 */
async function keepOnce(upkeep: Upkeep, service: ServiceRow): Promise<boolean> {
  const { ports, input, health, departures, signal } = upkeep
  const wanted = isStoodDown(ports, input.id, service) ? 0 : service.instances
  const found = await ports.instances.list({ deployId: input.id })
  if (found.some(({ index }) => index >= wanted)) sendAway(upkeep, wanted, found)
  // Also after a kill between the two.
  else if (ports.storage.addresses.get(input.id, wanted))
    await ports.storage.addresses.release(input.id, wanted)
  const isSettled = found.length === wanted && found.every(({ state }) => state === 'running')
  const kept = Math.min(wanted, departures.fromIndex ?? wanted)
  try {
    for (let index = 0; index < kept; index++) {
      const instance = found.find((candidate) => candidate.index === index)
      await keepInstance(ports, input, service, index, instance, signal)
      if (instance) health.expectRunning(instance.name)
    }
    return await keepServing(upkeep, service, kept)
  } finally {
    const now = isSettled ? found : await ports.instances.list({ deployId: input.id })
    await report(ports, input.id, health.lack(now, wanted) ?? findUnhealthy(ports, input.id, now))
  }
}

/** In the background: what is open may last, and the others are looked after meanwhile. */
function sendAway(
  { ports, input, health, departures, wake }: Upkeep,
  wanted: number,
  found: InstanceState[],
): void {
  const { id, serviceId } = input
  const service = () => ports.storage.services.get(serviceId)
  const isOver = () => {
    const row = service()
    return row !== null && !isStoodDown(ports, id, row) && row.instances > wanted
  }
  // What nobody is connected to has nothing to finish.
  const isConnected = service()?.type !== 'background_worker'
  const drainMs = isConnected ? (service()?.drain_seconds ?? 0) * 1000 : 0
  const isHurried = !service()?.suspended && wanted === 0
  if (isHurried) ports.downtimes.begin(serviceId)
  const limitMs = isHurried ? Math.min(briefDrainMs, drainMs) : drainMs
  const leaving = found.filter(({ index }) => index >= wanted)
  const onStop = () => leaving.forEach(({ name }) => void health.expectExit(name))
  departures.begin({ fromIndex: wanted, limitMs }, { isOver, onStop, onEnd: wake })
}

/** Who has passed its check gets requests, who ended gets none until it passes again. */
async function keepServing(
  { ports, input, health, healthcheck, signal }: Upkeep,
  service: ServiceRow,
  kept: number,
): Promise<boolean> {
  // While another deploy is being switched to, that one says who serves.
  if (!isServed(ports, service) || service.desired_deploy_id !== input.id) return true
  const instances = (await ports.instances.list({ deployId: input.id })).filter(({ index }) => index < kept)
  await takeOutEnded(ports, input, instances, signal, kept)
  const running = instances.filter(({ state }) => state === 'running')
  const passed: InstanceState[] = []
  let unready: string | null = null
  for (const instance of running) {
    if (isAdmitted(ports, input, instance)) continue
    const answer = await tryProbe(ports, input, instance, healthcheck, signal)
    if (answer === null) passed.push(instance)
    else unready = `instance ${instance.index + 1} does not pass its check: ${answer}`
  }
  try {
    await admit(ports, input, passed, signal, edgeMs)
  } catch (error) {
    unready = messageOf(error)
    throw error
  } finally {
    health.sawUnready(unready)
  }
  return running.every((instance) => isAdmitted(ports, input, instance))
}

/** Suspended, or another deploy with the same disk is being tried: then the disk must be free. */
function isStoodDown(ports: DeployPorts, id: string, service: ServiceRow): boolean {
  if (service.suspended) return true
  const wanted = service.desired_deploy_id
  return wanted !== id && usesDisk(ports, id) && usesDisk(ports, wanted)
}

/** Docker itself restarts one that crashed; what it gave up on, or lost, is brought back here. */
async function keepInstance(
  ports: DeployPorts,
  input: UpkeepInput,
  service: ServiceRow,
  index: number,
  instance: InstanceState | undefined,
  signal: AbortSignal,
): Promise<void> {
  // While another deploy is being switched to, Docker must not revive these: a reboot would bring both.
  const restart = service.desired_deploy_id === input.id ? 'unless-stopped' : 'no'
  const runs = instance?.state === 'running' || instance?.state === 'restarting'
  if (!runs) await ensureInstance(ports, service, { ...input, index, restart }, signal)
  if (instance && instance.restart !== restart) await ports.instances.setRestart(instance.name, restart)
}

/** Told as an event only when it changed: each one is a commit. */
async function report(ports: DeployPorts, id: string, lack: string | null): Promise<void> {
  if (lack === null) ports.degradedReasons.clear(id)
  else ports.degradedReasons.report(id, lack)
  const degraded = lack !== null
  const row = ports.storage.actors.get(id)
  const known = (row?.snapshot as { context?: { degraded?: boolean } } | undefined)?.context?.degraded
  if (known !== degraded) await ports.actors.send(id, { type: 'instances.reported', at: isoNow(), degraded })
}
