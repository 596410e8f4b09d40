// What happened when: kills of the daemon, restarts of Docker, restarts that somebody asked for. And for how
// long a writer was told nothing around it.
// Times are of the monotonic clock; what has not ended yet ends at infinity.

export type IncidentKind = 'kill' | 'engine' | 'restart'

export interface Incident {
  kind: IncidentKind
  /** The datastore it is about; null for what is about all. */
  who: string | null
  from: number
  to: number
}

export interface Incidents {
  all: Incident[]
  /** Over when `end` of it is called, in the moment of the call. */
  begin(kind: IncidentKind, who?: string | null): Incident
  end(incident: Incident): void
  /** Whether anything but a kill may explain what a client of that datastore met in this time. */
  isDisturbed(who: string, from: number, to: number): boolean
  /** Whether nothing happened that may concern that datastore. */
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

/** The longest time between two acknowledged rows that lies, in part at least, in the incident. */
export function longestSilenceMs(acknowledgedAt: readonly number[], { from, to }: Incident): number {
  return longestGapMs(acknowledgedAt, (before, at) => at > from && before < to)
}

/** The longest one in which, from end to end, nothing happened. */
export function longestAtRestMs(
  acknowledgedAt: readonly number[],
  isQuiet: (from: number, to: number) => boolean,
): number {
  return longestGapMs(acknowledgedAt, isQuiet)
}

function longestGapMs(
  acknowledgedAt: readonly number[],
  isMeant: (before: number, at: number) => boolean,
): number {
  let longest = 0
  for (const [index, at] of acknowledgedAt.entries()) {
    const before = acknowledgedAt[index - 1]
    if (before !== undefined && at - before > longest && isMeant(before, at)) longest = at - before
  }
  return longest
}
