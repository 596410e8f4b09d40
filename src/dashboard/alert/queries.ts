// Alerts: the open ones, which every page counts, and those that have ended, in pages.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Alert } from '../../api/alert.ts'
import { get, getPage } from '../api/client.ts'

export const openAlertsQuery = queryOptions({
  queryKey: ['alerts', 'open'],
  queryFn: get<Alert[]>('/alerts?limit=500'),
})

export const endedAlertsQuery = infiniteQueryOptions({
  queryKey: ['alerts', 'ended'],
  queryFn({ pageParam, signal }) {
    const query = new URLSearchParams({ state: 'recovered', limit: '20' })
    if (pageParam !== null) query.set('before', pageParam)
    return getPage<Alert>(`/alerts?${query}`, signal)
  },
  initialPageParam: null as string | null,
  getNextPageParam: ({ before }) => before,
})
