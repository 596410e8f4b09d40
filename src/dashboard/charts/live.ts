// Lists of actors follow the feed. A transition of an actor that is listed is shown without a request; what a
// transition does not show is read again.
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Actor, Transition } from '../../api/actor.ts'
import type { ChartLayout } from '../chart/layouts.ts'
import { layoutQuery } from '../chart/layouts.ts'
import { onChange } from '../live/feed.ts'
import { refresh } from '../live/refresh.ts'
import { type ActorPages, machinesQuery } from './queries.ts'

/** For as long as a page with such lists is shown. */
export function useActorChanges(): void {
  const client = useQueryClient()
  useEffect(
    () =>
      onChange(({ transition }) => {
        if (transition === null) return
        void refresh('machines', () => client.invalidateQueries({ queryKey: machinesQuery.queryKey }))
        for (const [key, pages] of client.getQueriesData<ActorPages>({ queryKey: ['actors', 'list'] }))
          show(client, key, pages, transition)
      }),
    [client],
  )
}

function show(client: QueryClient, key: QueryKey, data: ActorPages | undefined, change: Transition): void {
  const layout = client.getQueryData<ChartLayout>(layoutQuery(change.kind).queryKey)
  const known = data?.pages.flatMap(({ items }) => items).find(({ id }) => id === change.actor_id)
  const update = known && updateOf(known, change, layout)
  const toShown = (page: ActorPages['pages'][number]) => ({ ...page, items: page.items.flatMap(update!) })
  if (data && update) client.setQueryData<ActorPages>(key, { ...data, pages: data.pages.map(toShown) })
  else void refresh(key.join(' '), () => client.invalidateQueries({ queryKey: key }))
}

/** Undefined if the list must be read. */
function updateOf(
  known: Actor,
  { event, state, status, revision, at }: Transition,
  layout: ChartLayout | undefined,
): ((actor: Actor) => Actor[]) | undefined {
  if (!layout || ['parked', 'retried', 'discarded'].includes(event)) return undefined
  const isNews = revision > known.revision
  const isOver = isNews && layout.states.some((one) => one.id === state && one.kind === 'final')
  const next = isNews ? { ...known, state, status, revision, since: at } : known
  return (actor) => (actor !== known ? [actor] : isOver ? [] : [next])
}
