// The history of an actor grows with the feed: the chart moves without a request.
import type { QueryClient } from '@tanstack/react-query'
import type { HistoryEntry, Transition } from '../../api/actor.ts'

/** Under each key that ends in the id and 'history'. */
export function appendToHistories(client: QueryClient, transition: Transition): void {
  const histories = client.getQueryCache().findAll({
    predicate: ({ queryKey }) => queryKey.at(-1) === 'history' && queryKey.at(-2) === transition.actor_id,
  })
  for (const { queryKey, state } of histories) {
    const entries = state.data && append(state.data as HistoryEntry[], transition)
    // An answer that is on its way may be older than this transition.
    if (!entries || state.fetchStatus === 'fetching') void client.invalidateQueries({ queryKey })
    else client.setQueryData(queryKey, entries)
  }
}

/** Undefined if entries between are missing. */
function append(entries: HistoryEntry[], transition: Transition): HistoryEntry[] | undefined {
  const last = entries.at(-1)?.revision ?? 0
  if (transition.revision <= last) return entries
  const { actor_id: _id, kind: _kind, ...entry } = transition
  return transition.revision === last + 1 ? [...entries, entry] : undefined
}
