// Lists of actors follow the feed. A transition of an actor that is listed is shown without a request; what a
// transition does not show is read again.
import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
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
        for (const query of client.getQueryCache().findAll({ queryKey: ['actors', 'list'] }))
          show(client, query as Query<ActorPages>, transition)
      }),
    [client],
  )
}

function show(
  client: QueryClient,
  { queryKey, state, promise }: Query<ActorPages>,
  change: Transition,
): void {
  const { data, fetchStatus } = state
  if (![change.kind, ''].includes(queryKey[2] as string)) return
  const known = data?.pages.flatMap(({ items }) => items).find(({ id }) => id === change.actor_id)
  const isReading = fetchStatus === 'fetching'
  // It is on a page that is not read yet.
  if (!known && !isReading && !unshown.includes(change.event)) return
  const layout = client.getQueryData<ChartLayout>(layoutQuery(change.kind).queryKey)
  const update = known && updateOf(known, change, layout)
  if (data && update) {
    const pages = data.pages.map((page) => ({ ...page, items: page.items.flatMap(update) }))
    client.setQueryData<ActorPages>(queryKey, { ...data, pages })
    if (!isReading) return
  }
  // A page that is being read comes with the others as they were when that began.
  void refresh(queryKey.join(' '), async () => {
    await promise?.catch(() => undefined)
    await client.invalidateQueries({ queryKey })
  })
}

/** The feed does not say what the list shows of these. */
const unshown = ['created', 'parked', 'retried', 'discarded']

/** Undefined if the list must be read. */
function updateOf(
  known: Actor,
  { event, state, status, revision, at }: Transition,
  layout: ChartLayout | undefined,
): ((actor: Actor) => Actor[]) | undefined {
  if (!layout || unshown.includes(event)) return undefined
  const isNews = revision > known.revision
  const isOver = isNews && layout.states.some((one) => one.id === state && one.kind === 'final')
  const next = isNews ? { ...known, state, status, revision, since: at } : known
  return (actor) => (actor !== known ? [actor] : isOver ? [] : [next])
}
