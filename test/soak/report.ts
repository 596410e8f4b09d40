// The outcome of a run, and its printed line per swap.
import type { Violation } from '../crash/ledger.ts'
import type { Swap } from './evidence.ts'

export interface Outcome {
  swaps: Swap[]
  violations: Violation[]
}

export function swapLine({ number, kind, service, words, askedAt, liveAt, doneAt }: Swap): string {
  const took = `live ${seconds(liveAt - askedAt)}, drained ${seconds(doneAt - askedAt)}`
  return `swap ${String(number).padStart(2)}  ${kind.padEnd(8)} ${service.padEnd(5)} ${took}  ${words}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
