// The edge as other effects use it: they commit the wanted state, and wait until it is applied. The edge may
// be unavailable. Each caller that waits sets its own limit.

import { request } from 'node:http'
import { sleep } from '../../async/sleep.ts'
import { waitForWake } from '../../async/wait-for-wake.ts'
import { type AccessEvent, type AccessMark, readAccess } from '../../edge/access-events.ts'
import type { AccessFailure, AccessLine } from '../../edge/access-line.ts'
import type { Driver } from '../../edge/driver.ts'
import type { EdgeFiles } from '../../edge/files.ts'
import { numberIn, poolName, type Routes, slotName } from '../../edge/routes.ts'
import { codeOf, Failure } from '../../errors.ts'
import { percentEncode } from '../deploy/check/probes.ts'
import type { AccessLog } from '../logs/access-log.ts'
import { findPortProblem, type PortProblem, type PublicPorts } from './public-ports.ts'
import {
  type RouteParts,
  type RouteSources,
  type ServiceRoute,
  ServiceRoutes,
  toRoutes,
} from './service-routes.ts'

export interface Edge {
  isOff: boolean
  /** Resolves when the edge serves the committed state. Throws `edge_unavailable`, after 60 s by default. */
  apply(serviceId: string, signal: AbortSignal, withinMs?: number): Promise<void>
  /** Like `apply`, but ignores an unavailable edge: it reads all routes when it comes back. */
  applyBestEffort(serviceId: string, signal: AbortSignal): Promise<void>
  /** Open requests at the instances of a deploy, starting at an index; null if the number is unknown. */
  openRequests(serviceId: string, deployId: string, index?: number): Promise<number | null>
  /**
   * Resolves with the status when the instance in that slot answered a request through the edge; with null if
   * it only accepted it. Throws `not_reached`.
   */
  verify(wanted: Verification, signal: AbortSignal): Promise<number | null>
  /** The reason why requests to the public ports may not reach this edge, or null. */
  findPortProblem(signal: AbortSignal): Promise<PortProblem | null>
  putChallenge(token: string, answer: string, signal: AbortSignal): Promise<void>
  dropChallenge(token: string): void
  changeCertificates(signal: AbortSignal): Promise<void>
}

interface RoundOutcome {
  routes: { services: number; hosts: number; ready: number }
  /** The reasons why HAProxy rejected certificates. */
  refusals: string[]
  /** The serving process: a reload or an upgrade replaces it. */
  process: string
  files: EdgeFiles
  retired: readonly EdgeFiles[]
}

/** The interface of the edge for its own actor. */
export interface EdgeRounds extends Pick<Edge, 'findPortProblem'> {
  render(): Promise<void>
  /** Applies later rounds to `current`, and as far as possible to the retired ones. */
  follow(current: EdgeFiles, retired: readonly EdgeFiles[]): void
  round(): Promise<RoundOutcome>
  /** Resolves when something changed, or after the time. */
  next(withinMs: number, signal: AbortSignal): Promise<void>
  /** Records each request after the given one, until the process or the signal ends; yields the position. */
  readAccess(files: EdgeFiles, after: AccessMark | null, signal: AbortSignal): AsyncIterable<AccessMark>
  /** The last request that the daemon recorded before its restart. */
  newestRequest(): Promise<AccessMark | null>
}

interface Parts extends RouteParts {
  files: EdgeFiles
  driver: Driver
  publicPorts: PublicPorts
  routeSources: Omit<RouteSources, 'challenges' | 'certificates'>
  certificates: () => ReadonlyMap<string, string>
  accessLog: Pick<AccessLog, 'recordAccess' | 'newest'>
  unavailableReason: () => string
}

/** How long a cleanup waits for an unavailable edge. */
const bestEffortMs = 3_000
const maxWaitMs = 60_000
const verifyRounds = 3
/** Another program may send commands to HAProxy too, so its whole state is read this often. */
const compareIntervalMs = 60_000

type LastRound =
  /** No round has finished, or the last one failed: the next round reads the whole state of HAProxy. */
  | { mode: 'unknown' }
  /** `process` got all routes. Its whole state was last read at `comparedAt`. */
  | {
      mode: 'applied'
      process: string
      comparedAt: number
      outcome: Pick<RoundOutcome, 'routes' | 'refusals'>
    }

export class HaproxyEdge implements Edge, EdgeRounds {
  readonly isOff = false
  readonly #parts: Parts
  readonly #services: ServiceRoutes
  readonly #challenges = new Map<string, string>()
  readonly #waiting = new Set<() => void>()
  #wake: () => void = () => undefined
  /** The number of the latest requested change. A round applies all changes requested before it. */
  #requested = 0
  #applied = 0
  #last: LastRound = { mode: 'unknown' }
  #current: EdgeFiles
  #retired: readonly EdgeFiles[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    this.#current = parts.files
    this.#services = new ServiceRoutes(parts)
    parts.storage.changes.subscribe(({ kind, id }) => {
      if (kind === 'service') this.#requestRound(id)
    })
  }

  async apply(serviceId: string, signal: AbortSignal, withinMs = maxWaitMs): Promise<void> {
    await this.#waitUntilApplied(this.#requestRound(serviceId), signal, withinMs)
  }

  async applyBestEffort(serviceId: string, signal: AbortSignal): Promise<void> {
    await this.apply(serviceId, signal, bestEffortMs).catch((error: unknown) => {
      if (codeOf(error) !== 'edge_unavailable') throw error
    })
  }

  async openRequests(serviceId: string, deployId: string, index?: number): Promise<number | null> {
    const { storage, driver } = this.#parts
    const pool = storage.upstreams.poolOf(serviceId)
    const slots = storage.upstreams.list(serviceId).filter(isUpstreamOf(deployId, index))
    if (pool === null || slots.length === 0) return 0
    const open = await driver.countOpen(poolName(pool)).catch(() => null)
    return open && slots.reduce((sum, { slot }) => sum + (open.get(slotName(slot)) ?? 0), 0)
  }

  async verify(wanted: Verification, signal: AbortSignal): Promise<number | null> {
    for (let rounds = 1; ; rounds++) {
      const answer = await verifyUpstream(this.#current, this.#parts.driver, wanted, signal)
      if ('status' in answer) return answer.status
      if (answer.isFromInstance || rounds === verifyRounds) throw notReached(wanted, answer)
      // HAProxy may have been restarted since the last round, and not know the instance.
      this.#last = { mode: 'unknown' }
      await this.#waitUntilApplied(this.#requestRound(), signal, maxWaitMs)
    }
  }

  findPortProblem(signal: AbortSignal): Promise<PortProblem | null> {
    return findPortProblem(this.#parts.publicPorts, signal)
  }

  async putChallenge(token: string, response: string, signal: AbortSignal): Promise<void> {
    this.#challenges.set(token, response)
    await this.#waitUntilApplied(this.#requestRound(), signal, maxWaitMs)
  }

  dropChallenge(token: string): void {
    this.#challenges.delete(token)
    this.#requestRound()
  }

  async changeCertificates(signal: AbortSignal): Promise<void> {
    await this.#waitUntilApplied(this.#requestRound(), signal, maxWaitMs)
  }

  async render(): Promise<void> {
    await this.#parts.driver.render(await this.#routes())
  }

  follow(current: EdgeFiles, retired: readonly EdgeFiles[]): void {
    this.#current = current
    this.#retired = retired
    this.#parts.driver.follow(current, retired)
  }

  async round(): Promise<RoundOutcome> {
    const { driver } = this.#parts
    const turn = this.#requested
    const about = { files: this.#current, retired: this.#retired }
    const process = `${about.files.generation}:${await driver.identify()}`
    const last = this.#last
    const now = Date.now()
    const isTrusted =
      last.mode === 'applied' && last.process === process && now - last.comparedAt <= compareIntervalMs
    if (isTrusted && turn === this.#applied) return { ...last.outcome, ...about, process }
    if (!isTrusted) driver.invalidate()
    this.#last = { mode: 'unknown' }
    const routes = await this.#routes()
    const refusals = await driver.apply(routes)
    this.#settle(turn)
    const ready = routes.pools.flatMap((pool) =>
      pool.upstreams.filter((upstream) => upstream?.state === 'ready'),
    ).length
    const routed = { services: this.#services.all().length, hosts: routes.maps.hosts.size, ready }
    const outcome = { routes: routed, refusals }
    this.#last = { mode: 'applied', process, comparedAt: isTrusted ? last.comparedAt : now, outcome }
    return { ...outcome, ...about, process }
  }

  async next(withinMs: number, signal: AbortSignal): Promise<void> {
    const listen = (settle: () => void) => {
      this.#wake = settle
    }
    if (this.#requested === this.#applied) await waitForWake(listen, withinMs, signal)
  }

  async *readAccess(files: EdgeFiles, after: AccessMark | null, signal: AbortSignal) {
    for await (const events of readAccess(files, after, signal)) {
      for (const event of events) {
        const route = this.#services.byHost(event.host)
        if (route) this.#parts.accessLog.recordAccess(toAccessLine(event, route))
      }
      const last = events.at(-1)
      if (last) yield { id: last.id, at: last.at }
    }
  }

  newestRequest(): Promise<AccessMark | null> {
    return this.#parts.accessLog.newest()
  }

  async #routes(): Promise<Routes> {
    const { routeSources, certificates } = this.#parts
    await this.#services.ensurePools()
    const sources = { ...routeSources, challenges: this.#challenges, certificates: certificates() }
    return toRoutes(this.#services.all(), sources)
  }

  #requestRound(serviceId?: string): number {
    if (serviceId !== undefined) this.#services.touch(serviceId)
    this.#requested += 1
    this.#wake()
    return this.#requested
  }

  #settle(turn: number): void {
    this.#applied = Math.max(this.#applied, turn)
    for (const settle of this.#waiting) settle()
    this.#waiting.clear()
  }

  async #waitUntilApplied(turn: number, signal: AbortSignal, withinMs: number): Promise<void> {
    const until = Date.now() + withinMs
    while (this.#applied < turn) {
      if (Date.now() >= until) {
        throw new Failure('edge_unavailable', `the edge is unavailable: ${this.#parts.unavailableReason()}`)
      }
      let listener = () => {}
      const listen = (settle: () => void) => {
        listener = settle
        this.#waiting.add(settle)
      }
      await waitForWake(listen, until - Date.now(), signal).finally(() => this.#waiting.delete(listener))
    }
  }
}

/** Rows of a deploy, from an index on. */
export function isUpstreamOf(deployId: string, fromIndex = 0) {
  return (row: { deploy_id: string; index: number }) => row.deploy_id === deployId && row.index >= fromIndex
}

/** By HAProxy's letters about the end of a session. */
const failures: Record<string, AccessFailure> = {
  SC: 'no_connection',
  sC: 'no_connection',
  SH: 'no_response',
  PH: 'invalid_response',
  sH: 'response_timeout',
}

/** HAProxy's slots become instances of deploys. */
export function toAccessLine(event: AccessEvent, { id: serviceId, upstreams }: ServiceRoute): AccessLine {
  const slot = numberIn(event.upstream)
  const row = upstreams.find((one) => one.slot === slot)
  const durationMs = Math.max(0, event.ms)
  return {
    at: new Date(event.at - durationMs).toISOString(),
    id: event.id,
    serviceId,
    deployId: row?.deploy_id ?? null,
    instance: row?.index ?? null,
    client: event.client,
    method: event.method,
    host: event.host,
    path: event.path,
    protocol: event.protocol,
    tls: event.tls,
    // HAProxy's -1: the client disconnected before there was a response.
    status: Math.max(0, event.status),
    failure: failures[event.end] ?? null,
    bytesIn: event.in,
    bytesOut: event.out,
    durationMs,
    firstByteMs: Math.max(0, durationMs - Math.max(0, event.data)),
    // HAProxy writes `-` for a missing value.
    userAgent: event.agent === '-' ? null : event.agent,
  }
}

/** With `--edge off` the operator's own reverse proxy serves all requests. */
export function noEdge(): Edge {
  const nothing = async () => undefined
  const refused = async () => {
    throw new Failure('edge_off', 'there is no edge: --edge is off')
  }
  return {
    isOff: true,
    apply: nothing,
    applyBestEffort: nothing,
    openRequests: async () => 0,
    verify: async () => null,
    findPortProblem: async () => null,
    putChallenge: refused,
    dropChallenge: () => undefined,
    changeCertificates: nothing,
  }
}

// A request through the edge that must reach one specific instance, before any client's request does. It
// uses a separate socket on which the slot can be chosen; host, pool and upstream are the usual ones.

interface Verification {
  pool: number
  slot: number
  host: string
  /** The path of the health check; null if any response is enough. */
  healthPath: string | null
}

const attemptTimeoutMs = 5_000
const attempts = 5
const pauseMs = 200

/** Of the instance. */
interface Answer {
  /** Null if it did not come in time. */
  status: number | null
}

interface UnexpectedResponse {
  /** The status, or why there was none. */
  text: string
  /** Another upstream, the edge itself or nothing responded otherwise. */
  isFromInstance: boolean
}

export async function verifyUpstream(
  files: EdgeFiles,
  driver: Pick<Driver, 'countOpen'>,
  wanted: Verification,
  signal: AbortSignal,
): Promise<Answer | UnexpectedResponse> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    const answer = await sendRequest(files, wanted, signal)
    if ('status' in answer) return answer
    // Without a health path the page may take long to load: an open request at the instance is enough.
    const isSlow = answer.text === timeoutText && wanted.healthPath === null
    if (isSlow && (await hasOpenRequests(driver, wanted))) return { status: null }
    if (tries === attempts) return answer
    await sleep(pauseMs, signal)
  }
}

function notReached({ healthPath, host }: Verification, { text }: UnexpectedResponse): Failure {
  const what = `GET ${healthPath ?? '/'} for ${host}`
  const failure = new Failure(
    'not_reached',
    `a request through the edge did not reach the instance: ${what} → ${text}`,
  )
  return text === '502' ? failure.with({ reason: 'invalid_response' }) : failure
}

const timeoutText = 'no response in time'

/** Rejects with the signal: a late response must not admit an instance. */
function sendRequest(
  files: EdgeFiles,
  { host, healthPath, slot }: Verification,
  signal: AbortSignal,
): Promise<Answer | UnexpectedResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath: files.verifySocket,
        path: percentEncode(healthPath ?? '/'),
        headers: { host, 'x-berth-upstream': slotName(slot), 'user-agent': 'Berth' },
        timeout: attemptTimeoutMs,
        agent: false,
      },
      ({ statusCode = 0, headers }) => {
        outgoing.destroy()
        const isFromInstance = headers['x-berth-upstream'] === slotName(slot) && !headers['x-berth-answer']
        const isFine = healthPath === null || (statusCode >= 200 && statusCode < 400)
        const isAnswer = isFromInstance && isFine
        resolve(isAnswer ? { status: statusCode } : { text: String(statusCode), isFromInstance })
      },
    )
    outgoing.once('timeout', () => outgoing.destroy(new Error(timeoutText)))
    const giveUp = () => {
      reject(signal.reason)
      outgoing.destroy()
    }
    signal.addEventListener('abort', giveUp)
    outgoing.once('close', () => signal.removeEventListener('abort', giveUp))
    outgoing.once('error', ({ message: text }) => resolve({ text, isFromInstance: text === timeoutText }))
    outgoing.end()
  })
}

async function hasOpenRequests(
  driver: Pick<Driver, 'countOpen'>,
  { pool, slot }: Verification,
): Promise<boolean> {
  const open = await driver.countOpen(poolName(pool)).catch(() => null)
  return (open?.get(slotName(slot)) ?? 0) > 0
}
