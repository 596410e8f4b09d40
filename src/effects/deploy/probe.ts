// Probing new instances, from the host to each instance's own address, until all pass or one is beyond help.
// Mind: never a published port: Docker's own proxy accepts connections there with nobody behind it.
import type { ServiceSettings } from '../../../storage/services.ts'
import { explainExit, isOutOfMemory } from '../../docker/exit.ts'
import type { InstanceState } from '../../docker/instance-state.ts'
import { listeningPorts } from '../../docker/sockets.ts'
import { Failure } from '../../errors.ts'
import { defaultHost } from '../../hosts.ts'
import { listens } from '../../service-types.ts'
import { type Host, isoNow } from '../host.ts'
import { sleep, whileEngineReturns } from '../waiting.ts'
import { requireRelease } from './instances.ts'
import { type DeployLog, openDeployLog } from './log.ts'
import { chooseProbe, notYet, type Probe } from './probes.ts'
import { startAgain } from './second-start.ts'

interface ProbeInput {
  id: string
  serviceId: string
  port: number
  /** How long the instances must have run before they take the place of others; none by default. */
  settleMs?: number
}

const firstPauseMs = 50
const longestPauseMs = 1000
/** An attempt that the deadline cuts off after so long had no answer, whatever the one before it had. */
const patienceMs = 1_000
const shownLines = 50

export function probeInstances(host: Host) {
  return async (input: ProbeInput, signal: AbortSignal) => {
    const log = openDeployLog(host, input.id)
    const { settings } = host.storage.releases.get(input.id)!
    const service = host.storage.services.get(input.serviceId)!
    const probe = chooseProbe(settings, input.port, defaultHost(service.name, host.settings.baseDomain))
    const instances = await whileEngineReturns(host, signal, () =>
      host.instances.list({ deployId: input.id }),
    )
    const pass = async () => {
      for (const { name } of instances) {
        await untilPassed(host, name, probe, { settings, ...input }, log, signal)
      }
    }
    await pass()
    log.say(`healthy: ${probe.text}`)
    if (await hasSettled(host, input, log, signal)) await pass()
    return { at: isoNow() }
  }
}

/** Answers whether there was anything to wait for. */
async function hasSettled(host: Host, { id, settleMs = 0 }: ProbeInput, log: DeployLog, signal: AbortSignal) {
  if (settleMs === 0) return false
  const instances = await whileEngineReturns(host, signal, () => host.instances.list({ deployId: id }))
  const youngest = Math.max(...instances.map(({ startedAt }) => Date.parse(startedAt ?? isoNow())))
  const remainingMs = youngest + settleMs - Date.now()
  if (remainingMs <= 0) return false
  log.say(`watching it for ${settleMs / 1000} s before it takes over (--settle-time)`)
  await sleep(remainingMs, signal)
  return true
}

/** Tries once whether an instance of a live deploy can serve: null, or why not. */
export async function tryProbe(
  host: Host,
  { id, serviceId }: Pick<ProbeInput, 'id' | 'serviceId'>,
  instance: InstanceState,
  signal: AbortSignal,
): Promise<string | null> {
  const { settings } = requireRelease(host, id)
  const service = host.storage.services.get(serviceId)
  const port = host.storage.actors.record(id)?.port as number
  if (!service) return 'the service is gone'
  return chooseProbe(settings, port, defaultHost(service.name, host.settings.baseDomain)).run(
    instance,
    signal,
  )
}

/**
 * Tries until the probe passes. An instance that ended, or the deadline, fails with its last lines in the
 * log.
 */
async function untilPassed(
  host: Host,
  name: string,
  probe: Probe,
  context: ProbeInput & { settings: ServiceSettings },
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  let lastAnswer: string | null = null
  let told: string | null = null
  let isStartedAgain = false
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const look = () => host.instances.inspectExit(name, signal)
    const instance = await whileEngineReturns(host, signal, look).catch(() => null)
    try {
      signal.throwIfAborted()
      if (instance?.state !== 'running') {
        if (isStartedAgain || !(await startAgain(host, instance, log, signal))) throw ended(instance, context)
        isStartedAgain = true
        continue
      }
      const askedAt = Date.now()
      const answer = await probe.run(instance, signal)
      if (answer === null) return
      if (signal.aborted && Date.now() - askedAt > patienceMs) lastAnswer = null
      signal.throwIfAborted()
      // A refused connection in the first moment is how every start looks.
      if (answer !== told && pauseMs >= longestPauseMs && answer !== notYet) {
        told = answer
        log.say(`waiting: ${probe.text} → ${answer}`)
      }
      lastAnswer = answer
      await sleep(pauseMs, signal)
    } catch (error) {
      await showLastLines(host, name, log)
      if (signal.aborted) throw await unhealthy(host, name, probe, lastAnswer, context)
      throw error
    }
  }
}

function ended(
  instance: InstanceState | null,
  { settings, port }: ProbeInput & { settings: ServiceSettings },
) {
  if (!instance) return new Failure('instance_failed', 'the instance disappeared while it was checked')
  const words = explainExit(instance, {
    command: settings.start_command,
    port: listens(settings) ? port : null,
  })
  return new Failure(isOutOfMemory(instance) ? 'out_of_memory' : 'instance_failed', `the instance ${words}`)
}

async function unhealthy(
  host: Host,
  name: string,
  probe: Probe,
  answer: string | null,
  { port, settings }: ProbeInput & { settings: ServiceSettings },
) {
  const instance = await host.instances.inspect(name).catch(() => null)
  const ports = instance?.pid ? await listeningPorts(instance.pid) : null
  const hint = ports && !ports.includes(port) ? `; ${whereElse(ports, port)}` : ''
  const limit = `${settings.health_check_timeout_seconds} s (health_check_timeout_seconds)`
  return new Failure(
    'health_check_failed',
    `the health check did not pass within ${limit}: ${probe.text} → ${answer ?? 'no answer'}${hint}`,
  )
}

function whereElse(ports: readonly number[], port: number): string {
  if (ports.length > 0) return `the instance listens on ${ports.join(', ')}, not on ${port}: set the port`
  return `nothing in the instance listens, or only at 127.0.0.1: it has to listen on ${port} at 0.0.0.0`
}

async function showLastLines(host: Host, name: string, log: DeployLog): Promise<void> {
  const lines = await host.instances.tail(name, shownLines).catch(() => [])
  if (lines.length === 0) return log.say('the instance wrote nothing')
  log.say(
    lines.length === 1 ? 'the only line of the instance:' : `the last ${lines.length} lines of the instance:`,
  )
  for (const { stream, line } of lines) log.write(stream, line)
}
