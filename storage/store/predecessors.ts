// The server ids of data directories whose Docker prefix this server once took over, which an option of an
// earlier version did. Their remaining Docker objects are not managed, and do not prevent the start.
import { openRedundantValue } from './redundant-value.ts'
import type { Store } from './store.ts'

export function openPredecessors(store: Store): () => string[] {
  const stored = openRedundantValue<{ server_id: string }[]>(store, 'server', 'predecessors')
  return () => (stored.get() ?? []).map(({ server_id }) => server_id)
}
