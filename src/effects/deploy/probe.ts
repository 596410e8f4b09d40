// Probing new instances, from the host to each instance's own address, until all pass or one is beyond help.
// Mind: never a published port: Docker's own proxy accepts connections there with nobody behind it.
import { request } from 'node:http'
import { connect } from 'node:net'
import type { ServiceSettings } from '../../../storage/services.ts'
import { explainExit, isOutOfMemory } from '../../docker/exit.ts'
import type { InstanceState } from '../../docker/instance-state.ts'
import { listeningPorts } from '../../docker/sockets.ts'
import { Failure } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { sleep, whileEngineReturns } from '../waiting.ts'
import { type DeployLog, openDeployLog } from './log.ts'
import { startAgain } from './second-start.ts'

interface ProbeInput {
  id: string
  serviceId: string
  port: number
}

interface Probe {
  /** What it does, in the words of the log. */
  text: string
  /** null when it passed, else why not. */
  run(instance: InstanceState, signal: AbortSignal): Promise<string | null>
}

const workerMustRunMs = 5000
const firstPauseMs = 50
const longestPauseMs = 1000
const attemptMs = 5000
/** An attempt that the deadline cuts off after so long had no answer, whatever the one before it had. */
const patienceMs = 1_000
const shownLines = 50
/** The answer of a probe that only time can pass. */
const notYet = 'not yet'

export function probeInstances(host: Host) {
  return async (input: ProbeInput, signal: AbortSignal) => {
    const log = openDeployLog(host, input.id)
    const { settings } = host.storage.releases.get(input.id)!
    const service = host.storage.services.get(input.serviceId)!
    const probe = chooseProbe(settings, input.port, `${service.name}.${host.settings.baseDomain}`)
    const instances = await whileEngineReturns(host, signal, () =>
      host.instances.list({ deployId: input.id }),
    )
    for (const { name } of instances)
      await untilPassed(host, name, probe, { settings, ...input }, log, signal)
    log.say(`healthy: ${probe.text}`)
    return { at: isoNow() }
  }
}

function chooseProbe(settings: ServiceSettings, port: number, hostName: string): Probe {
  if (settings.type === 'background_worker') return runningProbe()
  return settings.health_check_path ? httpProbe(settings.health_check_path, port, hostName) : tcpProbe(port)
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
  const listens = settings.type !== 'background_worker'
  const words = explainExit(instance, { command: settings.start_command, port: listens ? port : null })
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

function runningProbe(): Probe {
  const sinceStart = ({ startedAt }: InstanceState) => Date.now() - Date.parse(startedAt ?? isoNow())
  return {
    text: `still running after ${workerMustRunMs / 1000} s`,
    run: async (instance) => (sinceStart(instance) >= workerMustRunMs ? null : notYet),
  }
}

function tcpProbe(port: number): Probe {
  return {
    text: `TCP connection to port ${port}`,
    run: ({ address }, signal) =>
      new Promise((resolve) => {
        // Handed to the socket, the signal would keep it for good: a socket never stops listening to one.
        const socket = connect({ host: address!, port, timeout: attemptMs })
        const settle = (answer: string | null) => {
          signal.removeEventListener('abort', giveUp)
          socket.destroy()
          resolve(answer)
        }
        const giveUp = () => settle('given up')
        signal.addEventListener('abort', giveUp)
        socket.once('connect', () => settle(null))
        socket.once('timeout', () => settle('no answer'))
        socket.once('error', (error) => settle(reasonOf(error)))
      }),
  }
}

/** 2xx and 3xx pass. The Host is the service's own first host. */
function httpProbe(path: string, port: number, hostName: string): Probe {
  return {
    text: `GET ${path} on port ${port}`,
    run: ({ address }, signal) =>
      new Promise((resolve) => {
        const options = {
          host: address!,
          port,
          path: inAscii(path),
          signal,
          headers: { host: hostName },
          timeout: attemptMs,
        }
        const probing = request({ ...options, agent: false }, (response) => {
          response.resume()
          const { statusCode = 0 } = response
          resolve(statusCode >= 200 && statusCode < 400 ? null : String(statusCode))
          probing.destroy()
        })
        probing.once('timeout', () => probing.destroy(new Error('no answer')))
        probing.once('error', (error) => resolve(reasonOf(error)))
        probing.end()
      }),
  }
}

/** As a browser would send it; node would send a part of it as other bytes, and refuse the rest. */
function inAscii(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

function reasonOf(error: Error & { code?: string }): string {
  const known: Record<string, string> = { ECONNREFUSED: 'connection refused', ECONNRESET: 'connection reset' }
  return known[error.code ?? ''] ?? error.message
}
