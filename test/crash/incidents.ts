// The times in which Docker was away, or in which a datastore was restarted by request. They explain errors
// that a kill of the daemon would not.

interface Incident {
  /** The datastore concerned; null for all. */
  who: string | null
  from: number
  to: number
}

export function createIncidents() {
  const all: Incident[] = []
  const met = (who: string | null, from: number, to: number) =>
    all.some((incident) => incident.who === who && incident.from <= to && incident.to >= from)
  return {
    /** Returns what ends it. */
    begin(who: string | null = null): () => void {
      const incident = { who, from: Date.now(), to: Number.POSITIVE_INFINITY }
      all.push(incident)
      return () => {
        incident.to = Date.now()
      }
    },
    wasEngineAway: (from: number, to = Date.now()) => met(null, from, to),
    isDisturbed: (who: string, at: number) => met(null, at, at) || met(who, at, at),
  }
}

export type Incidents = ReturnType<typeof createIncidents>
