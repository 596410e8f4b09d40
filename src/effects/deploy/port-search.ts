// Where an instance listens when it is not where it was expected: its port is found where nothing says which
// one it is, and else the deploy fails early and names it.
// Mind: a slow app may open the port of a debugger or of its metrics first, so time has to pass.
import type { PortSource } from '../../../machines/deploy-context.ts'
import { inspectImage } from '../../docker/images.ts'
import type { InstanceState } from '../../docker/instance-state.ts'
import { findListeners, type Listener } from '../../docker/sockets.ts'
import { tryConnection } from '../connection.ts'
import type { Host } from '../host.ts'
import type { DeployLog } from './log.ts'

export interface Expected {
  serviceName: string
  port: number
  portSource: PortSource
  /** Where the former version was found to listen: there is nothing to wait for when it is there again. */
  formerPort: number | null
}

/** The port to use instead, or why waiting is no use; null to go on as before. */
export type Finding = { port: number } | { trouble: string } | null

export interface PortSearch {
  /** Asked each time a connection to the expected port was refused. */
  look(instance: InstanceState, signal: AbortSignal): Promise<Finding>
}

const toldAfterMs = 1_000
const steadyMs = 3_000
/** An app that is busy may still be starting. */
const busyMs = 30_000
const hopelessMs = 20_000
/** Looks are a second apart. */
const quietLooks = { use: 2, giveUp: 5 }
/** Of its CPU limit. */
const quietPercent = 10
const connectMs = 2_000
/** Debuggers of Node.js, Java, Python, Ruby, Go and PHP. */
const debugPorts = [9229, 5005, 5678, 1234, 2345, 9003]
/** Of images that expose several: hardly what a service answers by. */
const unlikely = [22, 443]
/** Where the kernel puts a listener that names no port. */
const isEphemeral = (port: number) => port >= 32_768 && port <= 60_999

export function createPortSearch(host: Host, expected: Expected, log: DeployLog): PortSearch {
  let seen = ''
  let since = 0
  let told = ''
  let quiet = 0
  const { port, portSource, formerPort, serviceName } = expected

  async function find(instance: InstanceState, listeners: Listener[]): Promise<number | null> {
    if (portSource !== 'default') return null
    const image = await inspectImage(host.engine, instance.image)
    return choosePort(listeners, image?.exposedPorts ?? [])
  }

  function isSure(found: number, forMs: number): boolean {
    if (found === formerPort) return forMs >= toldAfterMs
    return forMs >= busyMs || (forMs >= steadyMs && quiet >= quietLooks.use)
  }

  return {
    async look(instance, signal) {
      const listeners = await listenersOf(instance, port)
      const key = JSON.stringify(listeners)
      if (key !== seen) {
        seen = key
        since = Date.now()
        quiet = 0
      }
      if (listeners === null || listeners.length === 0) return null
      const forMs = Date.now() - since
      if (forMs >= toldAfterMs && told !== key) {
        told = key
        log.say(`it ${whereListening(listeners, port)}`)
      }
      quiet = (await isQuiet(host, instance)) ? quiet + 1 : 0
      const found = await find(instance, listeners)
      if (found !== null && isSure(found, forMs) && (await answers(instance, found, signal))) {
        log.say(`nothing says which port it has: using ${found}, where it listens`)
        return { port: found }
      }
      if (forMs < hopelessMs || quiet < quietLooks.giveUp) return null
      return { trouble: adviceOn(listeners, port, serviceName) }
    },
  }
}

/** What is said of an instance at the end of its time; empty where nobody can tell. */
export async function describeListeners(
  instance: InstanceState | null,
  { port, serviceName }: Pick<Expected, 'port' | 'serviceName'>,
): Promise<string> {
  const listeners = instance ? await listenersOf(instance, port) : null
  if (listeners === null || listeners.some((one) => one.port === port && !one.isLoopback)) return ''
  return `; ${adviceOn(listeners, port, serviceName)}`
}

/** Whether the instance listens there by now. */
export async function listensOn(instance: InstanceState, port: number): Promise<boolean> {
  const listeners = await listenersOf(instance, port)
  return listeners?.some((one) => one.port === port && !one.isLoopback) ?? false
}

/** Among the ports that can be reached: one that the image exposes, else the only one. */
export function choosePort(listeners: readonly Listener[], exposed: readonly number[]): number | null {
  const reached = listeners.filter(({ isLoopback }) => !isLoopback).map(({ port }) => port)
  const declared = exposed.filter((port) => reached.includes(port))
  const [first] = declared.sort((a, b) => rank(a) - rank(b) || a - b)
  if (first !== undefined) return first
  const lasting = reached.length > 1 ? reached.filter((port) => !isEphemeral(port)) : reached
  return lasting.length === 1 ? lasting[0]! : null
}

const rank = (port: number) => (unlikely.includes(port) ? 1 : 0)

async function listenersOf({ pid }: InstanceState, expected: number): Promise<Listener[] | null> {
  const found = pid ? await findListeners(pid) : null
  return found?.filter(({ port }) => port === expected || !debugPorts.includes(port)) ?? null
}

/** What cannot be measured holds nothing up. */
async function isQuiet(host: Host, { name, cpuLimit }: InstanceState): Promise<boolean> {
  const usage = await host.instances.usage(name).catch(() => null)
  return usage === null || usage.cpuPercent <= quietPercent * (cpuLimit || 1)
}

/** A program may listen by IPv6 alone, which the tables of the kernel do not tell. */
async function answers({ address }: InstanceState, port: number, signal: AbortSignal): Promise<boolean> {
  const place = { host: address!, port, timeoutMs: connectMs }
  return (await tryConnection(place, new Error('no answer'), signal)) === null
}

function whereListening(listeners: readonly Listener[], expected: number): string {
  const reached = listeners.filter(({ isLoopback }) => !isLoopback).map(({ port }) => port)
  if (reached.includes(expected)) return `listens on ${expected} by IPv6 only`
  if (reached.length > 0) return `listens on ${reached.join(', ')}, not on ${expected}`
  return `listens on ${listeners.map(({ port }) => port).join(', ')} at 127.0.0.1 only`
}

function adviceOn(listeners: readonly Listener[], expected: number, serviceName: string): string {
  const needed = `it has to listen on ${expected} at 0.0.0.0`
  if (listeners.length === 0) return `nothing in the instance listens: ${needed}`
  const words = `the instance ${whereListening(listeners, expected)}`
  const [other] = listeners.filter(({ isLoopback }) => !isLoopback)
  if (!other || listeners.some(({ port, isLoopback }) => port === expected && !isLoopback)) {
    return `${words}: ${needed}`
  }
  return `${words}: berth update ${serviceName} --port ${other.port}`
}
