// A timeline of kills, Docker restarts and requested restarts, and the longest gap between acknowledged
// rows around each.
// Times are from the monotonic clock; an ongoing incident ends at infinity.

export type IncidentKind = 'kill' | 'engine' | 'restart'

export interface Incident {
  kind: IncidentKind
  /** The datastore concerned; null for all. */
  who: string | null
  from: number
  to: number
}

export interface Incidents {
  all: Incident[]
  /** Ends when its `end` is called. */
  begin(kind: IncidentKind, who?: string | null): Incident
  end(incident: Incident): void
  /** Whether anything but a kill may explain an error of that datastore's client in this time. */
  isDisturbed(who: string, from: number, to: number): boolean
  /** Whether there was no incident that concerns that datastore. */
  isQuiet(who: string, from: number, to: number): boolean
  wasEngineAway(from: number, to: number): boolean
}

export function createIncidents(): Incidents {
  const all: Incident[] = []
  const met = (kind: IncidentKind, who: string | null, from: number, to: number) =>
    all.some((one) => one.kind === kind && one.who === who && one.from <= to && one.to >= from)
  const isDisturbed = (who: string, from: number, to: number) =>
    met('engine', null, from, to) || met('restart', who, from, to)
  return {
    all,
    begin(kind, who = null) {
      const incident = { kind, who, from: performance.now(), to: Number.POSITIVE_INFINITY }
      all.push(incident)
      return incident
    },
    end(incident) {
      incident.to = performance.now()
    },
    isDisturbed,
    isQuiet: (who, from, to) => !isDisturbed(who, from, to) && !met('kill', null, from, to),
    wasEngineAway: (from, to) => met('engine', null, from, to),
  }
}

/** The longest time between two acknowledged rows that overlaps the incident. */
export function longestSilenceMs(acknowledgedAt: readonly number[], { from, to }: Incident): number {
  return longestGapMs(acknowledgedAt, (before, at) => at > from && before < to)
}

/** The longest one without any incident. */
export function longestAtRestMs(
  acknowledgedAt: readonly number[],
  isQuiet: (from: number, to: number) => boolean,
): number {
  return longestGapMs(acknowledgedAt, isQuiet)
}

function longestGapMs(
  acknowledgedAt: readonly number[],
  isMatch: (before: number, at: number) => boolean,
): number {
  let longest = 0
  for (const [index, at] of acknowledgedAt.entries()) {
    const before = acknowledgedAt[index - 1]
    if (before !== undefined && at - before > longest && isMatch(before, at)) longest = at - before
  }
  return longest
}
