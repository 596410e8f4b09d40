// Requests, errors and latency of each service, as the edge reports them: since the start for Prometheus, and
// over the last five minutes for the status. Everything is in memory; Prometheus expects counters to restart
// at 0.
import { Counter, Histogram, Registry } from 'prom-client'
import type { AccessLine } from '../../edge/access-line.ts'

interface Numbers {
  service: string
  window: LatencyWindow
}

const bucketSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const switchingProtocols = 101

export class TrafficNumbers {
  readonly #now: () => number
  readonly #registry = new Registry()
  readonly #numbers = new Map<string, Numbers>()
  readonly #requests = new Counter({
    name: 'berth_http_requests_total',
    help: 'Requests by status class.',
    labelNames: ['service', 'code'],
    registers: [this.#registry],
  })
  readonly #durations = new Histogram({
    name: 'berth_http_request_duration_seconds',
    help: 'From the first byte of a request to the first byte of the response body; without WebSockets.',
    labelNames: ['service'],
    buckets: bucketSeconds,
    registers: [this.#registry],
  })

  readonly #bytes = {
    in: this.#byteCounter('request', 'Bytes of requests, with their headers.'),
    out: this.#byteCounter('response', 'Bytes of responses, with their headers.'),
  }

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** `service` is the current name of the service. */
  record(line: AccessLine, service: string): void {
    const { serviceId, status, firstByteMs } = line
    const numbers = this.#numbersOf(serviceId, service)
    const latencyMs = status === switchingProtocols ? null : firstByteMs
    numbers.window.add(status >= 500, latencyMs, this.#now())
    this.#requests.inc({ service, code: statusClassOf(status) })
    this.#bytes.in.inc({ service }, line.bytesIn)
    this.#bytes.out.inc({ service }, line.bytesOut)
    if (latencyMs !== null) this.#durations.observe({ service }, latencyMs / 1000)
  }

  of(serviceId: string): TrafficWindow {
    return (this.#numbers.get(serviceId)?.window ?? new LatencyWindow()).read(this.#now())
  }

  /** In the text format of Prometheus. */
  metrics(): Promise<string> {
    return this.#registry.metrics()
  }

  forget(serviceId: string): void {
    const service = this.#numbers.get(serviceId)?.service
    this.#numbers.delete(serviceId)
    if (service === undefined) return
    this.#durations.remove({ service })
    this.#bytes.in.remove({ service })
    this.#bytes.out.remove({ service })
    for (const code of classes) this.#requests.remove({ service, code })
  }

  #byteCounter(of: 'request' | 'response', help: string) {
    const name = `berth_http_${of}_bytes_total`
    return new Counter({ name, help, labelNames: ['service'], registers: [this.#registry] })
  }

  #numbersOf(serviceId: string, service: string): Numbers {
    const existing = this.#numbers.get(serviceId)
    if (existing?.service === service) return existing
    const numbers = { service, window: existing?.window ?? new LatencyWindow() }
    this.#numbers.set(serviceId, numbers)
    return numbers
  }
}

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none']

/** `none` is for a client that disconnected before there was a response. */
function statusClassOf(status: number): string {
  return classes[Math.floor(status / 100) - 1] ?? 'none'
}
// Requests, errors and latency of the last five minutes, in slots of ten seconds. Pure: the caller passes the
// time. Durations are counted in classes that are 5 % wide, so that a percentile is at most 2.5 % off and any
// number of requests takes the same memory.

interface TrafficWindow {
  window_seconds: number
  requests: number
  /** Responses with status 500 and above. */
  errors: number
  /** null without a request. */
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

interface Slot {
  /** The number of the slot since 1970. */
  at: number
  requests: number
  errors: number
  durations: Uint32Array
}

const windowSeconds = 300
const slotMs = 10_000
const slotCount = (windowSeconds * 1000) / slotMs
const shortestMs = 0.1
const growth = Math.log(1.05)
/** Up to an hour. */
const classCount = 360

class LatencyWindow {
  readonly #slots: Slot[] = []

  /** `durationMs` is null for requests without a latency: a WebSocket lasts as long as its client stays. */
  add(isError: boolean, durationMs: number | null, nowMs: number): void {
    const slot = this.#slotAt(Math.floor(nowMs / slotMs))
    slot.requests += 1
    if (isError) slot.errors += 1
    if (durationMs !== null) slot.durations[classOf(durationMs)]! += 1
  }

  read(nowMs: number): TrafficWindow {
    const oldest = Math.floor(nowMs / slotMs) - slotCount
    const slots = this.#slots.filter(({ at }) => at > oldest)
    const durations = new Uint32Array(classCount)
    for (const slot of slots) {
      for (let index = 0; index < classCount; index++) durations[index]! += slot.durations[index]!
    }
    return {
      window_seconds: windowSeconds,
      requests: slots.reduce((sum, slot) => sum + slot.requests, 0),
      errors: slots.reduce((sum, slot) => sum + slot.errors, 0),
      p50_ms: percentile(durations, 0.5),
      p95_ms: percentile(durations, 0.95),
      p99_ms: percentile(durations, 0.99),
    }
  }

  /** The current slot, which replaces the expired one. */
  #slotAt(at: number): Slot {
    const position = at % slotCount
    const known = this.#slots.find((slot) => slot.at % slotCount === position)
    if (known?.at === at) return known
    const fresh = { at, requests: 0, errors: 0 }
    if (known) return Object.assign(known, fresh, { durations: known.durations.fill(0) })
    const slot = { ...fresh, durations: new Uint32Array(classCount) }
    this.#slots.push(slot)
    return slot
  }
}

function classOf(durationMs: number): number {
  const index = Math.ceil(Math.log(Math.max(durationMs, shortestMs) / shortestMs) / growth)
  return Math.min(index, classCount - 1)
}

function percentile(durations: Uint32Array, part: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * part)
  if (left === 0) return null
  const index = durations.findIndex((count) => {
    left -= count
    return left <= 0
  })
  const middleMs = shortestMs * Math.exp((index - 0.5) * growth)
  return middleMs < 1 ? Math.round(middleMs * 10) / 10 : Math.round(middleMs)
}
