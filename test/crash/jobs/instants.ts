// Compares the due times of an every-minute schedule with its runs and its reported skips.
import type { Body } from '../../support/daemon/api.ts'

const minuteMs = 60_000

interface InstantsQuery {
  /** Ms since 1970: times after the first and up to the last are due. */
  after: number
  upTo: number
  runs: Pick<Body, 'id' | 'scheduled_for'>[]
  /** Ms since 1970. */
  skips: ReadonlySet<number>
}

function minutesBetween(after: number, upTo: number): number[] {
  const instants: number[] = []
  for (let at = Math.floor(after / minuteMs) * minuteMs + minuteMs; at <= upTo; at += minuteMs)
    instants.push(at)
  return instants
}

/** Due times with neither a run nor a reported skip. */
export function missedInstants({ after, upTo, runs, skips }: InstantsQuery): string[] {
  const served = new Set(runs.map(({ scheduled_for }) => Date.parse(scheduled_for)))
  return minutesBetween(after, upTo)
    .filter((at) => !served.has(at) && !skips.has(at))
    .map((at) => new Date(at).toISOString())
}

/** A text per due time with more than one run. */
export function repeatedInstants(runs: InstantsQuery['runs']): string[] {
  const byInstant = new Map<string, string[]>()
  for (const { id, scheduled_for } of runs)
    byInstant.set(scheduled_for, [...(byInstant.get(scheduled_for) ?? []), id])
  return [...byInstant]
    .filter(([, ids]) => ids.length > 1)
    .map(([instant, ids]) => `${instant} has ${ids.join(', ')}`)
}

/** The due times that the API's last reported skip covers. */
export function skippedBy({ scheduled_for, reason }: { scheduled_for: string; reason: string }): number[] {
  const [, first, last] = /every instant from (\S+) to (\S+) was missed/.exec(reason) ?? []
  if (first === undefined) return [Date.parse(scheduled_for)]
  return minutesBetween(Date.parse(first) - 1, Date.parse(last!))
}
