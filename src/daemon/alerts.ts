// Wires alerts: what is found in transitions and in measurements, and where their messages go.
import { AlertBook } from '../effects/alert/book.ts'
import { AlertEvaluator } from '../effects/alert/evaluator.ts'
import type { Ports } from './ports.ts'

export function createAlerts(ports: Pick<Ports, 'storage' | 'actors' | 'logger'>) {
  const halt = new AbortController()
  const book = new AlertBook(ports, halt.signal)
  const evaluator = new AlertEvaluator(ports, book)
  return {
    start() {
      evaluator.start()
    },
    /** Resolves when the store is no longer used. */
    async stop() {
      halt.abort()
      await evaluator.stop()
    },
  }
}
