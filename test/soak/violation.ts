// A violation shown by one sample, with the sample and the swaps in progress at that time as evidence.
import type { Violation } from '../crash/ledger.ts'
import { type Evidence, type Swap, swapsAt } from './evidence.ts'
import type { RequestSample, StreamSample } from './sample.ts'

export function violationOf(
  evidence: Evidence,
  rule: string,
  text: string,
  sample: RequestSample | StreamSample,
  at: number,
): Violation {
  const swaps = swapsAt(evidence, at).map((swap) => describeSwap(swap, at))
  const label = swaps.length > 0 ? swaps : ['between swaps']
  return { rule, text, evidence: [`${new Date(at).toISOString()} ${JSON.stringify(sample)}`, ...label] }
}

/** Describes the swap with times relative to `at`. */
export function describeSwap(swap: Swap, at: number): string {
  const { number, kind, service, words, askedAt, switchingAt, liveAt, limitAt, doneAt } = swap
  const marks = { asked: askedAt, switching: switchingAt, live: liveAt, 'drain limit': limitAt, done: doneAt }
  const seen = Object.entries(marks).flatMap(([name, instant]) =>
    instant === null ? [] : [`${name} ${secondsFrom(at, instant)}`],
  )
  return `swap ${number}: ${kind} of ${service} ${words}: ${seen.join(', ')}`
}

function secondsFrom(at: number, instant: number): string {
  return `${instant > at ? '+' : ''}${((instant - at) / 1000).toFixed(3)} s`
}
