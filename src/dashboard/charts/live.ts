// Lists of actors follow the feed. A transition of an actor that is listed is shown without a request; what a
// transition does not show is read again.
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Actor, Transition } from '../../api/actor.ts'
import type { ChartLayout } from '../chart/layouts.ts'
import { layoutQuery } from '../chart/layouts.ts'
import { onChange } from '../live/feed.ts'
import { refresh } from '../live/refresh.ts'
import { machinesQuery } from './queries.ts'

/** For as long as a page with such lists is shown. */
export function useActorChanges(): void {
  const client = useQueryClient()
  useEffect(
    () =>
      onChange(({ transition }) => {
        if (transition === null) return
        void refresh('machines', () => client.invalidateQueries({ queryKey: machinesQuery.queryKey }))
        for (const [key, actors] of client.getQueriesData<Actor[]>({ queryKey: ['actors', 'list'] }))
          show(client, key, actors, transition)
      }),
    [client],
  )
}

function show(client: QueryClient, key: QueryKey, actors: Actor[] | undefined, change: Transition): void {
  const layout = client.getQueryData<ChartLayout>(layoutQuery(change.kind).queryKey)
  const shown = actors && afterChange(actors, change, layout)
  if (shown) client.setQueryData(key, shown)
  else void refresh(key.join(' '), () => client.invalidateQueries({ queryKey: key }))
}

/** Undefined if the list must be read. */
function afterChange(
  actors: Actor[],
  { actor_id: id, event, state, status, revision, at }: Transition,
  layout: ChartLayout | undefined,
): Actor[] | undefined {
  const known = actors.find((actor) => actor.id === id)
  if (!known || !layout || ['parked', 'retried', 'discarded'].includes(event)) return undefined
  if (revision <= known.revision) return actors
  if (layout.states.some((one) => one.id === state && one.kind === 'final'))
    return actors.filter((actor) => actor !== known)
  return actors.map((actor) => (actor === known ? { ...actor, state, status, revision, since: at } : actor))
}
