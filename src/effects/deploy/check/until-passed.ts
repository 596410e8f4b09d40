// Probes one new instance until it passes its check, ends, reaches the deadline, or listens on
// a wrong port.
import type { PortSource } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import { sleep } from '../../../async/sleep.ts'
import { isOutOfMemory } from '../../../docker/containers/exit-explanation.ts'
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { Failure } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import { explainDenial } from '../../instances/denial.ts'
import { describeExit } from '../../instances/exit.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import type { DeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import {
  createPortSearch,
  defaultTimeoutSeconds,
  findAdvice,
  giveUpAfterMs,
  isIdle,
  type PortSearch,
  quietChecks,
} from './port-search.ts'
import { notYet, otherProtocol, type Probe, refused } from './probes.ts'
import { restartInstance } from './restart-after-engine.ts'

export interface Check {
  settings: ServiceSettings
  serviceName: string
  log: DeployLog
  /** Whether the instance must listen on a port. */
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
export async function waitUntilPassed(
  ports: DeployPorts,
  name: string,
  check: Check,
  signal: AbortSignal,
): Promise<void> {
  const search = createPortSearch(ports, check, check.log)
  const waiting = createWaitingLine(check.log)
  const isFinal = createRefusalWatch(ports, check)
  let lastAnswer: string | null = null
  let isStartedAgain = false
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    const look = () => ports.instances.inspectExit(name, signal)
    const instance = await retryWhileEngineUnavailable(ports, signal, look).catch(() => null)
    try {
      signal.throwIfAborted()
      if (instance?.state !== 'running') {
        const isAgain = isStartedAgain || !(await restartInstance(ports, instance, check.log, signal))
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
      if (response === refused) await searchPort(search, instance, check, signal)
      if (await isFinal(response, instance)) {
        const answer = `${probe.text} → ${response} for ${duration(giveUpAfterMs)}`
        throw new Failure('health_check_failed', `${answer}, and the instance is idle`)
      }
      await sleep(pauseMs, signal)
    } catch (error) {
      await showLastLines(ports, name, check.log)
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

/**
 * Statuses with which an app that has started refuses the check, such as Django for a Host that it does not
 * expect. Apps that still warm up answer 404 or 5xx.
 */
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
function createWaitingLine(log: DeployLog) {
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

async function showLastLines(ports: DeployPorts, name: string, log: DeployLog): Promise<void> {
  const lines = await ports.instances.tail(name, shownLines).catch(() => [])
  if (lines.length === 0) return log.info('the instance wrote nothing')
  log.info(
    lines.length === 1 ? 'the only line of the instance:' : `the last ${lines.length} lines of the instance:`,
  )
  for (const { stream, line } of lines) log.write(stream, line)
}
