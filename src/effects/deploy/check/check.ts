// Probes new instances at their own addresses until all pass or one has failed. Published ports are never
// probed: Docker's proxy accepts connections there even if nothing listens behind it.
import type { HealthCheck, PortSource } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import { sleep } from '../../../async/sleep.ts'
import { isOutOfMemory } from '../../../docker/containers/exit-explanation.ts'
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { wasEngineRestarted } from '../../../docker/engine/events.ts'
import { runInside } from '../../../docker/exec/exec.ts'
import { defaultHost } from '../../../domain/domains.ts'
import { listens } from '../../../domain/service-types.ts'
import { codeOf, Failure } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import { describeExit, explainDenial } from '../../instances/exit.ts'
import { isoNow } from '../../iso-now.ts'
import type { ActorLog } from '../../logs/actor-log.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import {
  createPortSearch,
  defaultTimeoutSeconds,
  findAdvice,
  giveUpAfterMs,
  isIdle,
  listensOn,
  type PortSearch,
  quietChecks,
} from './port-search.ts'
import {
  chooseProbe,
  type Healthcheck,
  kindOfProbe,
  notYet,
  otherProtocol,
  type Probe,
  refused,
} from './probes.ts'

interface ProbeInput {
  port: number
  portSource: PortSource
  /** How long the instances must have run before they replace others; 0 by default. */
  settleMs?: number
}

export async function probeInstances(phase: DeployPhase, input: ProbeInput) {
  const instances = await phase.withEngine(() => phase.listInstances())
  const check = openCheck(phase, input, instances)
  const pass = async () => {
    for (const { name } of instances) await waitUntilPassed(phase, name, check)
  }
  await pass()
  phase.log.info(`healthy: ${check.probe().text}`, { brief: check.probe().text })
  if (await waitForSettling(phase, input)) {
    await preferExpectedPort(phase, input, instances, check)
    await pass()
  }
  const { port, portSource, kind } = check
  return { port, portSource, healthCheck: kind }
}

function openCheck(
  { ports, service, release: { settings } }: DeployPhase,
  { port, portSource }: ProbeInput,
  instances: readonly InstanceState[],
): Check & { kind: HealthCheck } {
  const hasHealthcheck = instances.some(({ health }) => health)
  const healthcheck = createHealthcheck(ports)
  const hostName = defaultHost(service.name, ports.settings.baseDomain)
  const probe = () => chooseProbe({ settings, port: check.port, hostName, hasHealthcheck, healthcheck })
  const previous = service.live_deploy_id ? ports.storage.actors.record(service.live_deploy_id) : null
  const formerPort = previous?.port_source === 'detected' ? (previous.port as number) : null
  const kind = kindOfProbe({ settings, hasHealthcheck })
  const about = { settings, serviceName: service.name, hasPort: listens(settings), formerPort }
  const check = { ...about, port, portSource, kind, probe }
  return check
}

/** An app may open its metrics port first and `$PORT` later. */
async function preferExpectedPort(
  phase: DeployPhase,
  { port, portSource }: ProbeInput,
  instances: readonly InstanceState[],
  check: Check,
): Promise<void> {
  if (check.portSource !== 'detected' || instances.length === 0) return
  const running = await phase.withEngine(() => phase.listInstances())
  for (const instance of running) if (!(await listensOn(instance, port))) return
  phase.log.info(`it now listens on ${port}: using that port`)
  Object.assign(check, { port, portSource })
}

/** Returns whether a wait was needed. */
async function waitForSettling(phase: DeployPhase, { settleMs = 0 }: ProbeInput): Promise<boolean> {
  if (settleMs === 0) return false
  const instances = await phase.withEngine(() => phase.listInstances())
  const youngest = Math.max(...instances.map(({ startedAt }) => Date.parse(startedAt ?? isoNow())))
  const remainingMs = youngest + settleMs - Date.now()
  if (remainingMs <= 0) return false
  phase.log.info(`watching it for ${duration(settleMs)} before the switch (--settle-time)`)
  await sleep(remainingMs, phase.signal)
  return true
}

/** Probes an instance of a live deploy once. Null if it passes, otherwise the reason. */
export async function tryProbe(
  { ports, id, serviceId, release: { settings }, signal }: DeployPhase,
  instance: InstanceState,
  healthcheck: Healthcheck,
): Promise<string | null> {
  const service = ports.storage.services.get(serviceId)
  const record = ports.storage.actors.record(id)
  const port = record?.port as number
  if (!service) return 'the service is gone'
  const hostName = defaultHost(service.name, ports.settings.baseDomain)
  // If a version went live without the image's HEALTHCHECK, that check must not remove it from service later.
  const hasHealthcheck = instance.health !== null && record?.health_check === 'image'
  return chooseProbe({ settings, port, hostName, hasHealthcheck, healthcheck }).run(instance, signal)
}

interface Check {
  settings: ServiceSettings
  serviceName: string
  hasPort: boolean
  /** The expected port; replaced when another one is detected. */
  port: number
  portSource: PortSource
  formerPort: number | null
  /** The probe, from current knowledge such as a detected port. */
  probe(): Probe
}

const firstPauseMs = 50
const maxPauseMs = 1000
/** If the deadline cuts off an attempt that ran this long, the result is "no response", not the last one. */
const staleAnswerMs = 1_000
const shownLines = 50

/** Fails when the instance ends or at the deadline, with the last lines in the log. */
async function waitUntilPassed(phase: DeployPhase, name: string, check: Check): Promise<void> {
  const { ports, log, signal } = phase
  const search = createPortSearch(ports, check, log)
  const waiting = createWaitingLine(log)
  const isFinal = createRefusalWatch(ports, check)
  let lastAnswer: string | null = null
  let isStartedAgain = false
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    const look = () => ports.instances.inspectExit(name, signal)
    const instance = await phase.withEngine(look).catch(() => null)
    try {
      signal.throwIfAborted()
      if (instance?.state !== 'running') {
        const isAgain = isStartedAgain || !(await restartInstance(phase, instance))
        if (isAgain) throw await instanceEndedFailure(ports, instance, check)
        isStartedAgain = true
        continue
      }
      const askedAt = Date.now()
      const probe = check.probe()
      const response = await probe.run(instance, signal)
      if (response === null) return
      if (signal.aborted && Date.now() - askedAt > staleAnswerMs) lastAnswer = null
      signal.throwIfAborted()
      // Every instance refuses connections for a moment after its start.
      if (pauseMs >= maxPauseMs) waiting(probe, response)
      lastAnswer = response
      if (response === refused) await phase.withEngine(() => searchPort(search, instance, check, signal))
      if (await isFinal(response, instance)) {
        const answer = `${probe.text} → ${response} for ${duration(giveUpAfterMs)}`
        throw new Failure('health_check_failed', `${answer}, and the instance is idle`)
      }
      await sleep(pauseMs, signal)
    } catch (error) {
      await showLastLines(phase, name)
      const failure = signal.aborted ? await unhealthyFailure(ports, name, lastAnswer, check) : error
      throw await explainDenial(ports.instances, name, failure)
    }
  }
}

/** The check continues at the detected port. Throws `health_check_failed` if waiting is pointless. */
async function searchPort(search: PortSearch, instance: InstanceState, check: Check, signal: AbortSignal) {
  if (!check.hasPort) return
  const finding = await search.check(instance, signal)
  if (finding === null) return
  if ('port' in finding) Object.assign(check, { port: finding.port, portSource: 'detected' })
  else {
    const { message, facts } = finding.advice
    throw new Failure('health_check_failed', `${check.probe().text} → ${refused}; ${message}`).with(facts)
  }
}

/** Of apps that have started, such as Django for an unexpected Host. While they warm up: 404 or 5xx. */
const refusals = ['400', '401', '405']

/** Returns whether an idle instance has given the same refusal for so long that waiting is pointless. */
function createRefusalWatch(ports: DeployPorts, { settings }: Check) {
  let watched = { response: '', since: 0, quiet: 0 }
  return async (response: string, instance: InstanceState): Promise<boolean> => {
    if (response !== watched.response) watched = { response, since: Date.now(), quiet: 0 }
    if (!refusals.includes(response)) return false
    if (settings.health_check_timeout_seconds > defaultTimeoutSeconds) return false
    watched.quiet = (await isIdle(ports, instance)) ? watched.quiet + 1 : 0
    return Date.now() - watched.since >= giveUpAfterMs && watched.quiet >= quietChecks.giveUp
  }
}

/** Logs each answer once. Answers that differ only in numbers, such as times, count as equal. */
function createWaitingLine(log: ActorLog) {
  let reported: string | null = null
  return (probe: Probe, response: string) => {
    const key = response.replace(/\d+/g, '0')
    if (key === reported || response === notYet) return
    reported = key
    const brief = `${probe.text} → ${response}`
    log.info(`waiting: ${brief}`, { brief })
  }
}

async function instanceEndedFailure(
  ports: DeployPorts,
  instance: InstanceState | null,
  { settings, port, hasPort }: Check,
) {
  if (!instance) return new Failure('instance_failed', 'the instance disappeared while it was checked')
  const text = await describeExit(ports.instances, instance, {
    command: settings.start_command,
    port: hasPort ? port : null,
  })
  return new Failure(endCode(instance), `the instance ${text}`)
}

function endCode(instance: InstanceState): string {
  if (isOutOfMemory(instance)) return 'out_of_memory'
  return instance.exitCode === 0 ? 'exited_early' : 'instance_failed'
}

async function unhealthyFailure(ports: DeployPorts, name: string, response: string | null, check: Check) {
  const instance = await ports.instances.inspect(name).catch(() => null)
  const { kind, text } = check.probe()
  const advice = check.hasPort ? await findAdvice(instance, check) : null
  const limitMs = check.settings.health_check_timeout_seconds * 1000
  const limit = `${duration(limitMs)} (--health-timeout)`
  const words = `the health check did not pass within ${limit}: ${text} → ${response ?? 'no response'}`
  const failure = new Failure('health_check_failed', advice ? `${words}; ${advice.message}` : words)
  if (advice) return failure.with(advice.facts)
  if (response === otherProtocol) return failure.with({ reason: 'other_protocol' })
  return kind === 'image' ? failure.with({ reason: 'image_healthcheck' }) : failure
}

async function showLastLines({ ports, log }: DeployPhase, name: string): Promise<void> {
  const lines = await ports.instances.tail(name, shownLines).catch(() => [])
  if (lines.length === 0) return log.info('the instance wrote nothing')
  log.info(
    lines.length === 1 ? 'the only line of the instance:' : `the last ${lines.length} lines of the instance:`,
  )
  for (const { stream, line } of lines) log.write(stream, line)
}

/** If it ended only because the engine was restarted. Returns false in all other cases. */
export async function restartInstance(phase: DeployPhase, instance: InstanceState | null): Promise<boolean> {
  if (instance === null) return false
  const { engine, instances } = phase.ports
  if (!(await phase.withEngine(() => wasEngineRestarted(engine, instance)))) return false
  phase.log.info('the Docker engine was restarted: starting the instance again')
  await phase.withEngine(() => instances.start(instance.name))
  return true
}

const healthcheckIntervalMs = 2_000
const healthcheckTimeoutMs = 10_000

/**
 * Docker's status decides. Docker first runs the command after a whole interval, 30 s by default, so Berth
 * also runs it while the status is "starting", like --start-interval of newer engines.
 */
export function createHealthcheck({ engine, owner }: DeployPorts): Healthcheck {
  /** The earliest time to run the command again, by instance. */
  const nextAt = new Map<string, number>()

  return async ({ name, health }, signal) => {
    if (health?.status === 'healthy') return null
    if (health?.status === 'unhealthy') return describeUnhealthy(health.output)
    if (!health || Date.now() < (nextAt.get(name) ?? 0)) return 'starting'
    nextAt.set(name, Date.now() + healthcheckIntervalMs)
    try {
      const command = { argv: health.argv }
      const limits = { signal, timeoutMs: healthcheckTimeoutMs }
      const { exitCode } = await runInside({ engine, owner }, name, command, limits)
      return exitCode === 0 ? null : 'starting'
    } catch (error) {
      signal.throwIfAborted()
      // The engine cannot end a command that hangs, so at most one runs.
      if (codeOf(error) === 'docker_unavailable') nextAt.set(name, Number.POSITIVE_INFINITY)
      return 'starting'
    }
  }
}

function describeUnhealthy(output: string): string {
  return output === '' ? 'unhealthy' : `unhealthy: ${output}`
}

/** Why its HEALTHCHECK degrades it, or null. It still serves and is not restarted, as with plain Docker. */
export function findUnhealthy({ ports, id }: DeployPhase, instances: InstanceState[]): string | null {
  if (ports.storage.releases.get(id)?.settings.health_check_path) return null
  const instance = instances.find(({ health }) => health?.status === 'unhealthy')
  return instance ? `instance ${instance.index + 1} is ${describeUnhealthy(instance.health!.output)}` : null
}
