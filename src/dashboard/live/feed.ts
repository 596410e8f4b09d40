// The change feed keeps the cached records true: after a change, what it concerns is read again. An idle page
// sends no requests.
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { FeedChange } from '../../api/feed.ts'
import { refreshService } from '../service/queries.ts'
import { openStream, type StreamEvent, type StreamState } from './stream.ts'

export type Connection = StreamState | { kind: 'connecting' }

let connection: Connection = { kind: 'connecting' }
const listeners = new Set<() => void>()

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => connection,
  )
}

/** Changes that arrive together cause one request for each record. */
const batchMs = 50

/** For as long as the page is open. */
export function openFeed(client: QueryClient): void {
  const pending = new Map<string, FeedChange>()
  let hasBegun = false

  function refresh(): void {
    const changes = [...pending.values()]
    pending.clear()
    for (const key of changes.flatMap(keysOf)) void client.invalidateQueries({ queryKey: key })
    for (const id of new Set(changes.flatMap(servicesIn))) void refreshService(client, id)
  }

  function take({ name, data }: StreamEvent): void {
    // The feed begins after the first records were read: what changed in between is not in it.
    if (name === 'reset' || (name === 'ready' && !hasBegun)) void client.invalidateQueries()
    if (name === 'ready') hasBegun = true
    if (name !== 'change') return
    const change = JSON.parse(data) as FeedChange
    if (pending.size === 0) setTimeout(refresh, batchMs)
    pending.set(`${change.kind} ${change.id}`, change)
  }

  openStream({
    path: '/events',
    onEvent: take,
    onState(state) {
      connection = state
      for (const listener of listeners) listener()
    },
  })
}

/** The first parts of the keys of the queries that a change concerns. */
function keysOf({ kind, id, service_id }: FeedChange): unknown[][] {
  const service = service_id === null ? [] : [['service', service_id]]
  switch (kind) {
    case 'deploy':
      return [['deploy', id], ...service]
    case 'service':
    case 'instance':
    case 'certificate':
    case 'job-run':
      return service
    default:
      return []
  }
}

function servicesIn({ kind, service_id }: FeedChange): string[] {
  return ['service', 'deploy', 'certificate'].includes(kind) && service_id !== null ? [service_id] : []
}
