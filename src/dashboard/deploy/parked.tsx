// A deploy or a job run that an error in the server has stopped.
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { HistoryEntry } from '../../api/actor.ts'
import { actorQuery } from '../charts/queries.ts'

const Parked = lazy(async () => ({ default: (await import('../charts/parked.tsx')).Parked }))

export function parkedIn(history: Pick<HistoryEntry, 'state'>[]): boolean {
  return history.at(-1)?.state === 'parked'
}

export function ParkedPanel({ id, history }: { id: string; history: HistoryEntry[] }) {
  const { data: actor } = useQuery(actorQuery(id))
  if (!actor?.parked) return null
  return (
    <Suspense>
      <Parked actor={{ ...actor, parked: actor.parked }} history={history} />
    </Suspense>
  )
}
