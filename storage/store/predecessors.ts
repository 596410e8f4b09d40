// Data directories whose Docker prefix this server took over. Their remaining Docker objects are not managed
// by this server and do not prevent its start.
import { openRedundantValue } from './redundant-value.ts'
import type { Store } from './store.ts'

interface Predecessor {
  server_id: string
  taken_over_at: string
}

export function openPredecessors(store: Store) {
  const stored = openRedundantValue<Predecessor[]>(store, 'server', 'predecessors')
  const list = () => stored.get() ?? []
  return {
    serverIds: () => list().map(({ server_id }) => server_id),
    add: (serverId: string, at: string) =>
      store.commit(() => {
        const others = list().filter(({ server_id }) => server_id !== serverId)
        stored.put([...others, { server_id: serverId, taken_over_at: at }])
      }),
  }
}
