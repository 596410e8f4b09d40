// A deploy or a job run that an error in the server has stopped.
import { useQuery } from '@tanstack/react-query'
import type { HistoryEntry } from '../../api/actor.ts'
import { Parked } from '../charts/parked.tsx'
import { actorQuery } from '../charts/queries.ts'

export function parkedIn(history: Pick<HistoryEntry, 'state'>[]): boolean {
  return history.at(-1)?.state === 'parked'
}

export function ParkedPanel({ id, history }: { id: string; history: HistoryEntry[] }) {
  const { data: actor } = useQuery(actorQuery(id))
  return actor?.parked ? <Parked actor={{ ...actor, parked: actor.parked }} history={history} /> : null
}
