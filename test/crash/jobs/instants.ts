// The instants of a schedule that comes every minute, against the runs and what was told of instants without.
import type { Body } from '../../support/api.ts'

const minuteMs = 60_000

export interface InstantsAsked {
  /** Ms since 1970: those after the first and up to the last are due. */
  after: number
  upTo: number
  runs: Pick<Body, 'id' | 'scheduled_for'>[]
  /** Ms since 1970. */
  told: ReadonlySet<number>
}

export function minutesBetween(after: number, upTo: number): number[] {
  const instants: number[] = []
  for (let at = Math.floor(after / minuteMs) * minuteMs + minuteMs; at <= upTo; at += minuteMs)
    instants.push(at)
  return instants
}

/** Those with neither a run nor a word. */
export function silentInstants({ after, upTo, runs, told }: InstantsAsked): string[] {
  const served = new Set(runs.map(({ scheduled_for }) => Date.parse(scheduled_for)))
  return minutesBetween(after, upTo)
    .filter((at) => !served.has(at) && !told.has(at))
    .map((at) => new Date(at).toISOString())
}

/** Those with more than one run, in words. */
export function repeatedInstants(runs: InstantsAsked['runs']): string[] {
  const byInstant = new Map<string, string[]>()
  for (const { id, scheduled_for } of runs)
    byInstant.set(scheduled_for, [...(byInstant.get(scheduled_for) ?? []), id])
  return [...byInstant]
    .filter(([, ids]) => ids.length > 1)
    .map(([instant, ids]) => `${instant} has ${ids.join(', ')}`)
}

/** The instants that a word about the last one without a run is about. */
export function toldBy({ scheduled_for, reason }: { scheduled_for: string; reason: string }): number[] {
  const [, first, last] = /every instant from (\S+) to (\S+) was missed/.exec(reason) ?? []
  if (first === undefined) return [Date.parse(scheduled_for)]
  return minutesBetween(Date.parse(first) - 1, Date.parse(last!))
}
