// The times in which Docker was away, in which a datastore was restarted by request, or in which the edge was
// disturbed. They explain errors that a kill of the daemon would not.

interface Incident {
  /** The datastore concerned, or the edge; null for all. */
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
    /** Whether Docker or this one was. */
    wasDisturbed: (who: string, from: number, to = Date.now()) => met(null, from, to) || met(who, from, to),
    wasEngineAway: (from: number, to = Date.now()) => met(null, from, to),
  }
}

export type Incidents = ReturnType<typeof createIncidents>
