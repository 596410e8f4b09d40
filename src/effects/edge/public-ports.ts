// Checks whether the public ports belong to this edge alone: regularly while it serves, and during deploys.
// The kernel distributes connections between programs that share a port, so each check makes several.
import { networkInterfaces } from 'node:os'
import { sleep } from '../../async/sleep.ts'
import { findPortOwner, type PortOwner, type PortTarget, type Proof } from '../../edge/port-check.ts'
import { isoNow } from '../iso-now.ts'
import type { EdgePorts } from './ports.ts'

export interface PortProblem {
  code: 'port_shared' | 'port_unreachable'
  message: string
}

export interface PublicPorts {
  /** Checks all ports; null if only this edge answers. A recent result without a problem is reused. */
  check(signal: AbortSignal): Promise<PortProblem | null>
}

export interface PublicPortParts {
  httpPort: number
  httpsPort: number
  hasIpv6: boolean
  proof: Proof
}

interface PortAnswer {
  target: PortTarget
  answers: PortOwner[]
}

/**
 * Connections per port. If two programs share a port evenly, all connections reach one of them once in
 * 128 checks.
 */
const connectionsPerPort = { loopback: 8, others: 2 }
const maxInterfaces = 8
const confirmAfterMs = 1_000
const recentMs = 10_000
const intervalMs = 60_000
/** Shorter while there is a problem, so that a solved one is not shown for another minute. */
const problemIntervalMs = 5_000
/** Interfaces of containers. Their addresses have the same listeners. */
const bridge = /^(docker|br-|veth|virbr|cni|flannel|cali|lxc)/

export function openPublicPorts(parts: PublicPortParts): PublicPorts {
  let passedAt = Number.NEGATIVE_INFINITY
  return {
    async check(signal) {
      if (performance.now() - passedAt < recentMs) return null
      const problem = await checkTwice(parts, signal)
      passedAt = problem === null ? performance.now() : Number.NEGATIVE_INFINITY
      return problem
    },
  }
}

/** Reports each change, and the first result, until the signal ends. Never rejects. */
export async function watchPorts(
  { actors, logger }: Pick<EdgePorts, 'actors' | 'logger'>,
  { id, ports, everyMs = intervalMs }: { id: string; ports: PublicPorts; everyMs?: number },
  signal: AbortSignal,
): Promise<void> {
  let reported: PortProblem | null | undefined
  while (!signal.aborted) {
    try {
      const problem = await ports.check(signal)
      // Compared by code, because the message contains counts that vary.
      if (reported === undefined || problem?.code !== reported?.code) {
        await actors.send(id, { type: 'ports.checked', at: isoNow(), problem })
        if (problem) logger.error(problem, 'requests to the public ports may not reach this edge')
        else if (reported) logger.info('requests to the public ports reach this edge again')
        reported = problem
      }
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'checking the public ports failed')
    }
    await sleep(reported ? Math.min(everyMs, problemIntervalMs) : everyMs, signal).catch(() => undefined)
  }
}

/** A restart or a full queue looks like a problem for a moment, so only a persistent one is reported. */
async function checkTwice(parts: PublicPortParts, signal: AbortSignal): Promise<PortProblem | null> {
  if (toProblem(await findAnswers(targetsOf(parts), parts.proof, signal)) === null) return null
  await sleep(confirmAfterMs, signal)
  return toProblem(await findAnswers(targetsOf(parts), parts.proof, signal))
}

function findAnswers(targets: PortTarget[], proof: Proof, signal: AbortSignal): Promise<PortAnswer[]> {
  return Promise.all(
    targets.map(async (target) => {
      const answers: PortOwner[] = []
      const count = isLoopback(target) ? connectionsPerPort.loopback : connectionsPerPort.others
      while (answers.length < count) {
        const response = await findPortOwner(target, proof, signal)
        answers.push(response)
        // A single timeout takes seconds and is enough.
        if (response === 'none') break
      }
      return { target, answers }
    }),
  )
}

/** Pure. No answer at an address other than loopback may be caused by the operator's packet filter. */
export function toProblem(responses: readonly PortAnswer[]): PortProblem | null {
  const foreign = responses.filter(({ answers }) => answers.includes('another program'))
  if (foreign.length > 0) {
    const places = foreign.map(({ target, answers }) => {
      const count = answers.filter((owner) => owner === 'another program').length
      return `port ${target.port} at ${target.address} (${count} of ${answers.length} connections)`
    })
    return { code: 'port_shared', message: `another program responds on ${places.join(', ')}` }
  }
  const silent = responses.filter(({ target, answers }) => isLoopback(target) && answers.includes('none'))
  if (silent.length === 0) return null
  const places = silent.map(({ target }) => `port ${target.port} at ${target.address}`)
  return { code: 'port_unreachable', message: `no response from ${places.join(', ')}` }
}

function targetsOf({ httpPort, httpsPort, hasIpv6 }: PublicPortParts): PortTarget[] {
  return addressesToCheck(networkInterfaces(), hasIpv6).flatMap((address) => [
    { address, port: httpPort, isTls: false },
    { address, port: httpsPort, isTls: true },
  ])
}

/** Loopback and some addresses of the host: a program may listen at one of them only. */
export function addressesToCheck(
  interfaces: ReturnType<typeof networkInterfaces>,
  hasIpv6: boolean,
): string[] {
  const all = Object.entries(interfaces).flatMap(([name, list]) =>
    (list ?? []).map((networkInterface) => ({ name, ...networkInterface })),
  )
  const hasLoopback6 = hasIpv6 && all.some(({ address }) => address === '::1')
  const others = all.filter(({ name, internal, address, family }) => {
    if (internal || bridge.test(name) || (family === 'IPv6' && !hasIpv6)) return false
    return !/^(fe80:|169\.254\.)/i.test(address)
  })
  const loopback = ['127.0.0.1', ...(hasLoopback6 ? ['::1'] : [])]
  return [...loopback, ...others.slice(0, maxInterfaces).map(({ address }) => address)]
}

function isLoopback({ address }: PortTarget): boolean {
  return address === '127.0.0.1' || address === '::1'
}
