// Requests, errors and latency of each service, as the edge reports them: since the start for Prometheus, and
// over the last five minutes for the status. Everything is in memory; Prometheus expects counters to restart
// at 0.
import { Counter, Histogram, Registry } from 'prom-client'
import type { AccessLine } from '../../edge/access-line.ts'
import { LatencyWindow, type TrafficWindow } from './latency-window.ts'

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
    this.#requests.inc({ service, code: classOf(status) })
    this.#bytes.in.inc({ service }, line.bytesIn)
    this.#bytes.out.inc({ service }, line.bytesOut)
    if (latencyMs !== null) this.#durations.observe({ service }, latencyMs / 1000)
  }

  /** The numbers of the last five minutes. */
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
function classOf(status: number): string {
  return classes[Math.floor(status / 100) - 1] ?? 'none'
}
