// A list of the API that pages read page by page, newest first.
import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'
import { getPage } from './client.ts'

export function listQuery<Item>(queryKey: QueryKey, path: string, filter: Record<string, string> = {}) {
  return infiniteQueryOptions({
    queryKey,
    queryFn({ pageParam, signal }) {
      const query = new URLSearchParams(filter)
      if (pageParam !== null) query.set('before', pageParam)
      return getPage<Item>(`${path}?${query}`, signal)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ before }) => before,
  })
}
