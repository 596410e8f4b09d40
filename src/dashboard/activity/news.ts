// What happens while the list is shown: the feed brings it, so nothing is asked.
import { type InfiniteData, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FeedChange } from '../../api/feed.ts'
import { onChange } from '../live/feed.ts'
import { refresh } from '../live/refresh.ts'
import { servicesQuery } from '../service/queries.ts'
import { type ActivityFilter, type ActivityPage, activityQuery } from './queries.ts'

type Pages = InfiniteData<ActivityPage, string | null>

/** Beyond it the list begins again with its first page. */
const longestPage = 500

export function useNews(filter: ActivityFilter): void {
  const client = useQueryClient()
  useEffect(() => onChange((change) => add(client, filter, change)), [client, filter])
}

function add(client: QueryClient, filter: ActivityFilter, change: FeedChange): void {
  const { queryKey } = activityQuery(filter)
  const known = client.getQueryData<Pages>(queryKey)
  if (!known || change.transition === null) return
  const { transition, service_id: serviceId } = change
  const name = nameOf(client, known, serviceId)
  if (filter.kind !== undefined && filter.kind !== transition.kind) return
  if (filter.service !== undefined && filter.service !== name && filter.service !== serviceId) return
  const [first, ...older] = known.pages
  if (!first || name === undefined || first.items.length > longestPage)
    return void refresh('activity', () => client.resetQueries({ queryKey }))
  const { actor_id: id, revision } = transition
  if (first.items.some((entry) => entry.actor_id === id && entry.revision >= revision)) return
  const entry = { ...transition, service_id: serviceId, service_name: name }
  const newest = { ...first, items: [entry].concat(first.items) }
  client.setQueryData<Pages>(queryKey, { ...known, pages: [newest].concat(older) })
}

/** Undefined if only the server knows it. */
function nameOf(client: QueryClient, { pages }: Pages, serviceId: string | null): string | null | undefined {
  if (serviceId === null) return null
  const entry = pages.flatMap(({ items }) => items).find(({ service_id }) => service_id === serviceId)
  const service = client.getQueryData(servicesQuery.queryKey)?.find(({ id }) => id === serviceId)
  return entry?.service_name ?? service?.name
}
