// What the pages of the charts read: actors of every kind, their histories, and how many are where.
import { type InfiniteData, queryOptions } from '@tanstack/react-query'
import type { Actor, HistoryEntry } from '../../api/actor.ts'
import type { MachineSummary, MachineTimes } from '../../api/machine.ts'
import { get, type getPage, getText } from '../api/client.ts'
import { listQuery } from '../api/list.ts'

/** In pages of what a browser draws at once. */
export function actorsQuery({ kind, parked }: { kind?: string | undefined; parked?: boolean | undefined }) {
  const filter = { limit: '200', ...(kind && { kind }), ...(parked && { parked: 'true' }) }
  return listQuery<Actor>(['actors', 'list', kind ?? '', parked ?? false], '/actors', filter)
}

export type ActorPages = InfiniteData<Awaited<ReturnType<typeof getPage<Actor>>>, string | null>

export const machinesQuery = queryOptions({
  queryKey: ['actors', 'machines'],
  queryFn: get<MachineSummary[]>('/machines'),
})

export function mermaidQuery(kind: string) {
  return queryOptions({
    queryKey: ['actors', 'mermaid', kind],
    queryFn: ({ signal }) => getText(`/machines/${encodeURIComponent(kind)}.mmd`, signal),
  })
}

export function timesQuery(kind: string) {
  return queryOptions({
    queryKey: ['actors', 'times', kind],
    queryFn: get<MachineTimes>(`/machines/${encodeURIComponent(kind)}/times`),
  })
}

export function actorQuery(id: string) {
  return queryOptions({
    queryKey: ['actor', id],
    queryFn: get<Actor>(`/actors/${encodeURIComponent(id)}`),
  })
}

export function actorHistoryQuery(id: string) {
  return queryOptions({
    queryKey: ['actor', id, 'history'],
    queryFn: ({ signal }) => readHistory(`/actors/${encodeURIComponent(id)}/history?limit=500`, signal),
  })
}

/** The first entries of a long history are kept as well. */
async function readHistory(path: string, signal: AbortSignal): Promise<HistoryEntry[]> {
  const newest = await get<HistoryEntry[]>(path)({ signal })
  const [first] = newest
  if (first === undefined || first.revision === 1) return newest
  return (await get<HistoryEntry[]>(`${path}&before=${first.revision}`)({ signal })).concat(newest)
}
