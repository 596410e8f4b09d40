// What happened on the server, newest first, in pages.
import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Activity } from '../../api/activity.ts'
import { getPage } from '../api/client.ts'

/** What the feed brings has no number yet. */
export type Entry = Omit<Activity, 'number'>

export interface ActivityPage {
  items: Entry[]
  before: string | null
}

export interface ActivityFilter {
  kind?: string
  service?: string
}

export function activityQuery(filter: ActivityFilter) {
  return infiniteQueryOptions({
    queryKey: ['activity', filter],
    queryFn({ pageParam, signal }): Promise<ActivityPage> {
      const query = new URLSearchParams({ limit: '100', ...filter })
      if (pageParam !== null) query.set('before', pageParam)
      return getPage<Activity>(`/activity?${query}`, signal)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ before }) => before,
  })
}
