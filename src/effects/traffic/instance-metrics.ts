// Resource usage and restarts of instances, for Prometheus. A scrape never waits for Docker: it gets the last
// finished sample, and starts the next one if that is old. Without readers nothing is sampled.
import type { InstanceSample } from '../../docker/containers/instance-usage.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import { instanceKind } from '../../docker/engine/names.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { InstanceEvents } from '../engine/instance-events.ts'

export interface ServiceUsage {
  running: number
  memoryBytes: number
  /** Of the instance that uses most. */
  largestBytes: number
}

export interface UsageSample {
  /** When the sample was started: no value is older. */
  at: number
  byService: ReadonlyMap<string, ServiceUsage>
}

interface Parts {
  instanceEvents: InstanceEvents
  logger: Logger
  instances: Pick<Instances, 'isAskedToEnd'>
  services: { get(id: string): { live_deploy_id: string | null } | null }
  /** Throws while the engine is unavailable. */
  sample: () => Promise<InstanceSample[]>
  /** The age of a sample at which a scrape starts the next one. */
  everyMs?: number
}

const sampleEveryMs = 15_000

export class InstanceMetrics {
  readonly #parts: Parts
  readonly #unsubscribe: () => void
  #latest: UsageSample | null = null
  #isSampling = false
  #begunAt = Number.NEGATIVE_INFINITY
  /** Per container, because Docker's counter starts at zero in each. Null before the first sample. */
  #cpuOfContainers: Map<string, number> | null = null
  readonly #cpuSeconds = new Map<string, number>()
  readonly #restarts = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#unsubscribe = parts.instanceEvents.subscribeAll(({ action, kind, name, serviceId, deployId }) => {
      if (action !== 'die' || kind !== instanceKind || parts.instances.isAskedToEnd(name)) return
      if (parts.services.get(serviceId)?.live_deploy_id === deployId) add(this.#restarts, serviceId, 1)
    })
  }

  /** The last finished sample; null before the first. */
  latest(): UsageSample | null {
    const { everyMs = sampleEveryMs } = this.#parts
    if (!this.#isSampling && performance.now() - this.#begunAt >= everyMs) void this.#sample()
    return this.#latest
  }

  /** Since this daemon started. */
  countersOf(serviceId: string): { restarts: number; cpuSeconds: number } {
    const restarts = this.#restarts.get(serviceId) ?? 0
    return { restarts, cpuSeconds: this.#cpuSeconds.get(serviceId) ?? 0 }
  }

  close(): void {
    this.#unsubscribe()
  }

  async #sample(): Promise<void> {
    this.#isSampling = true
    this.#begunAt = performance.now()
    const at = Date.now()
    try {
      const samples = await this.#parts.sample()
      this.#addCpu(samples)
      this.#latest = { at, byService: this.#sum(samples) }
      this.#forgetRemoved()
    } catch (error) {
      this.#parts.logger.debug({ reason: messageOf(error) }, 'the usage of instances cannot be read')
    } finally {
      this.#isSampling = false
    }
  }

  /** What containers had used before the first sample is not counted: it would look like a sudden load. */
  #addCpu(found: readonly InstanceSample[]): void {
    const before = this.#cpuOfContainers
    const now = new Map<string, number>()
    for (const { containerId, serviceId, usage } of found) {
      const used = usage?.cpuSeconds ?? before?.get(containerId)
      if (used === undefined) continue
      now.set(containerId, used)
      if (before) add(this.#cpuSeconds, serviceId, Math.max(0, used - startOf(before.get(containerId), used)))
    }
    this.#cpuOfContainers = now
  }

  #sum(found: readonly InstanceSample[]): Map<string, ServiceUsage> {
    const sums = new Map<string, ServiceUsage>()
    for (const { serviceId, deployId, usage } of found) {
      const sum = sums.get(serviceId) ?? { running: 0, memoryBytes: 0, largestBytes: 0 }
      sums.set(serviceId, sum)
      sum.memoryBytes += usage?.memoryBytes ?? 0
      sum.largestBytes = Math.max(sum.largestBytes, usage?.memoryBytes ?? 0)
      if (this.#parts.services.get(serviceId)?.live_deploy_id === deployId) sum.running += 1
    }
    return sums
  }

  #forgetRemoved(): void {
    for (const counters of [this.#cpuSeconds, this.#restarts]) {
      for (const id of counters.keys()) if (!this.#parts.services.get(id)) counters.delete(id)
    }
  }
}

/** A container that was restarted counts from zero again. */
function startOf(before: number | undefined, used: number): number {
  return before === undefined || before > used ? 0 : before
}

function add(counters: Map<string, number>, key: string, amount: number): void {
  counters.set(key, (counters.get(key) ?? 0) + amount)
}
