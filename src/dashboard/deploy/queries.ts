// What pages read of deploys.
import { queryOptions } from '@tanstack/react-query'
import type { HistoryEntry } from '../../api/actor.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { Why } from '../../api/parts/failure.ts'
import { get } from '../api/client.ts'

export function deployQuery(id: string) {
  return queryOptions({
    queryKey: ['deploy', id],
    queryFn: get<Deploy>(`/deploys/${encodeURIComponent(id)}`),
  })
}

export function historyQuery(id: string) {
  return queryOptions({
    queryKey: ['deploy', id, 'history'],
    queryFn: get<HistoryEntry[]>(`/deploys/${encodeURIComponent(id)}/history`),
  })
}

export function whyQuery(id: string) {
  return queryOptions({
    queryKey: ['deploy', id, 'why'],
    queryFn: get<Why>(`/deploys/${encodeURIComponent(id)}/why`),
  })
}
