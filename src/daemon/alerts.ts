// Wires alerts: what is found in transitions and in measurements.
import { AlertBook } from '../effects/alert/book.ts'
import { AlertEvaluator } from '../effects/alert/evaluator.ts'
import { AlertSampler } from '../effects/alert/sampler.ts'
import { TokenAddresses } from '../effects/alert/token-addresses.ts'
import type { Ports } from './ports.ts'

export function createAlerts(ports: Ports) {
  const halt = new AbortController()
  const book = new AlertBook(ports, halt.signal)
  const evaluator = new AlertEvaluator(ports, book)
  const sampler = new AlertSampler(
    {
      ...ports,
      usage: () => ports.instanceMetrics.latest(),
      counters: (serviceId) => ports.instanceMetrics.countersOf(serviceId),
      traffic: (serviceId) => ports.traffic.of(serviceId),
    },
    book,
  )
  const addresses = new TokenAddresses(ports, book)
  return {
    addresses,
    start() {
      evaluator.start()
      sampler.start()
    },
    /** Resolves when the store is no longer used. */
    async stop() {
      halt.abort()
      await Promise.all([evaluator.stop(), sampler.stop()])
    },
  }
}
