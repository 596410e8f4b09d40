// Finds the port that an instance listens on if it is not the expected one. The port is detected if none is
// set; otherwise the deploy fails early and names it. A slow app may open a debugger or metrics port first,
// so the port must be stable for some time.
import type { PortSource } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { findListeners, type Listener } from '../../../docker/containers/sockets.ts'
import { inspectImage } from '../../../docker/images/images.ts'
import { tryConnection } from '../../connection.ts'
import type { ActorLog } from '../../logs/actor-log.ts'
import type { DeployPorts } from '../ports.ts'

export interface Expected {
  serviceName: string
  port: number
  portSource: PortSource
  /** The detected port of the former version. If the new version listens there too, no wait is needed. */
  formerPort: number | null
  settings: Pick<ServiceSettings, 'health_check_timeout_seconds'>
}

/** The port to use instead, or why waiting is pointless; null to keep waiting. */
export type Finding = { port: number } | { advice: PortAdvice } | null

/** Why the expected port refuses connections, and the port at which the program listens or must listen. */
export interface PortAdvice {
  message: string
  facts: { reason: 'wrong_port' | 'listens_locally' | 'ipv6_only' | 'nothing_listens'; port: number }
}

export interface PortSearch {
  /** Called each time the expected port refuses a connection. */
  check(instance: InstanceState, signal: AbortSignal): Promise<Finding>
}

const reportAfterMs = 1_000
const steadyMs = 3_000
/** A busy app may still be starting. After this time its port counts even if it is busy. */
const busyMs = 30_000
export const giveUpAfterMs = 20_000
/** Checks are a second apart. */
export const quietChecks = { use: 2, giveUp: 5 }
/** Percent of the CPU limit below which an instance is idle. */
const quietPercent = 10
const connectTimeoutMs = 2_000
/** Debuggers of Node.js, Java, Python, Ruby, Go and PHP. */
const debugPorts = [9229, 5005, 5678, 1234, 2345, 9003]
/** Ports for metrics, profiles and administration. An app may open them long before its own port. */
const sidePorts = [2019, 2112, 6060, 8778, 9394, 9404, 9464, 9901, 9990]
const isSide = (port: number) => sidePorts.includes(port) || (port >= 9090 && port <= 9199)
/** If an image exposes several ports, a service is unlikely to use these. */
const isUnlikely = (port: number) => port === 22 || port === 443 || isSide(port)
/** A setting above this default means that the app is known to start slowly. */
export const defaultTimeoutSeconds = 300
/** The range from which the kernel assigns a port to a listener without one. */
const isEphemeral = (port: number) => port >= 32_768 && port <= 60_999

export function createPortSearch(ports: DeployPorts, expected: Expected, log: ActorLog): PortSearch {
  let seen = ''
  let since = 0
  let reported = ''
  let quiet = 0
  const { port, portSource, formerPort } = expected

  async function find(instance: InstanceState, listeners: Listener[]) {
    if (portSource !== 'default') return null
    const exposed = (await inspectImage(ports.engine, instance.image))?.exposedPorts ?? []
    const found = pickListeningPort(listeners, exposed)
    return found === null ? null : { port: found, isLikely: isLikely(found, exposed) }
  }

  function isSure(found: { port: number; isLikely: boolean }, forMs: number): boolean {
    if (found.port === formerPort) return forMs >= reportAfterMs
    return forMs >= busyMs || (found.isLikely && forMs >= steadyMs && quiet >= quietChecks.use)
  }

  return {
    async check(instance, signal) {
      const listeners = await readListeners(instance, port)
      const key = JSON.stringify(listeners)
      if (key !== seen) {
        seen = key
        since = Date.now()
        quiet = 0
      }
      if (listeners === null || listeners.length === 0) return null
      const forMs = Date.now() - since
      if (forMs >= reportAfterMs && reported !== key) {
        reported = key
        log.info(`it ${whereListening(listeners, port)}`)
      }
      quiet = (await isIdle(ports, instance)) ? quiet + 1 : 0
      const found = await find(instance, listeners)
      if (found !== null) {
        if (!isSure(found, forMs)) return null
        if (await acceptsConnections(instance, found.port, signal)) {
          log.info(`its port is unknown: using ${found.port}, where it listens`)
          return { port: found.port }
        }
      }
      if (forMs < giveUpAfterMs || quiet < quietChecks.giveUp || mayStillOpenPort(listeners, expected))
        return null
      return { advice: createAdvice(listeners, expected) }
    },
  }
}

/** Advice for an instance at its deadline; null for unknown listeners, or an open expected port. */
export async function findAdvice(
  instance: InstanceState | null,
  expected: AdviceInput,
): Promise<PortAdvice | null> {
  const { port } = expected
  const listeners = instance ? await readListeners(instance, port) : null
  if (listeners === null || listeners.some((listener) => listener.port === port && !listener.isLoopback))
    return null
  return createAdvice(listeners, expected)
}

export async function listensOn(instance: InstanceState, port: number): Promise<boolean> {
  const listeners = await readListeners(instance, port)
  return listeners?.some((listener) => listener.port === port && !listener.isLoopback) ?? false
}

/** Among the reachable ports: one that the image exposes, or else the only one. */
export function pickListeningPort(listeners: readonly Listener[], exposed: readonly number[]): number | null {
  const reachable = listeners.filter(({ isLoopback }) => !isLoopback).map(({ port }) => port)
  const [first] = byLikelihood(exposed.filter((port) => reachable.includes(port)))
  if (first !== undefined) return first
  const lasting = reachable.length > 1 ? reachable.filter((port) => !isEphemeral(port)) : reachable
  return lasting.length === 1 ? lasting[0]! : null
}

/** Likely ports first, then by number: Docker does not keep the order of EXPOSE. */
function byLikelihood(exposed: readonly number[]): number[] {
  return [...exposed].sort((a, b) => Number(isUnlikely(a)) - Number(isUnlikely(b)) || a - b)
}

/** Whether the found port is the likeliest one. Otherwise the instance gets time to open a likelier one. */
export function isLikely(found: number, exposed: readonly number[]): boolean {
  const [first] = byLikelihood(exposed)
  return first === undefined ? !isSide(found) : found === first
}

/** Whether an idle instance may still open its port: a side port alone does not end its start. */
export function mayStillOpenPort(
  listeners: readonly Listener[],
  { settings }: Pick<Expected, 'settings'>,
): boolean {
  return (
    settings.health_check_timeout_seconds > defaultTimeoutSeconds ||
    listeners.every(({ port }) => isSide(port))
  )
}

async function readListeners({ pid }: InstanceState, expected: number): Promise<Listener[] | null> {
  const listeners = pid ? await findListeners(pid) : null
  return listeners?.filter(({ port }) => port === expected || !debugPorts.includes(port)) ?? null
}

/** An instance whose usage is unknown counts as idle, so that it delays nothing. */
export async function isIdle(ports: DeployPorts, { name, cpuLimit }: InstanceState): Promise<boolean> {
  const usage = await ports.instances.usage(name).catch(() => null)
  return usage === null || usage.cpuPercent <= quietPercent * (cpuLimit || 1)
}

/** Tries a connection: a program may listen on IPv6 only, which the kernel's tables do not show. */
async function acceptsConnections(
  { address }: InstanceState,
  port: number,
  signal: AbortSignal,
): Promise<boolean> {
  const target = { address: address!, port, timeoutMs: connectTimeoutMs }
  return (await tryConnection(target, new Error('no response'), signal)) === null
}

function whereListening(listeners: readonly Listener[], expected: number): string {
  const reachable = listeners.filter(({ isLoopback }) => !isLoopback).map(({ port }) => port)
  if (reachable.includes(expected)) return `listens on ${expected} on IPv6 only`
  if (reachable.length > 0) return `listens on ${reachable.join(', ')}, not on ${expected}`
  return `listens on ${listeners.map(({ port }) => port).join(', ')} at 127.0.0.1 only`
}

type AdviceInput = Pick<Expected, 'port' | 'portSource' | 'serviceName'>

export function createAdvice(listeners: readonly Listener[], expected: AdviceInput): PortAdvice {
  const { port, portSource, serviceName } = expected
  const advice = (reason: PortAdvice['facts']['reason'], message: string, at = port) => ({
    message,
    facts: { reason, port: at },
  })
  const needed = `it must listen on 0.0.0.0:${port}`
  if (listeners.length === 0) {
    return advice('nothing_listens', `the instance does not listen on any port: ${needed}`)
  }
  const prefix = `the instance ${whereListening(listeners, port)}`
  const own = listeners.find((listener) => listener.port === port)
  if (own) return advice(own.isLoopback ? 'listens_locally' : 'ipv6_only', `${prefix}: ${needed}`)
  const reachable = listeners.filter(({ isLoopback }) => !isLoopback)
  const [first, ...others] = reachable.length > 0 ? reachable : listeners
  const served = [first!, ...others].find((listener) => !isSide(listener.port)) ?? first!
  const command = `berth update ${serviceName} --port ${served.port}`
  if (!served.isLoopback) return advice('wrong_port', `${prefix}: ${command}`, served.port)
  const there = `it must listen on 0.0.0.0:${served.port}`
  const isFree = portSource === 'default'
  return advice('listens_locally', `${prefix}: ${there}${isFree ? '' : `, with ${command}`}`, served.port)
}
