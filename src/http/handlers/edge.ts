// The edge: whether it serves, and how it came to be so. It is driven by options, so nothing is changed here.
import { edgeId } from '../../hosts.ts'
import type { Call } from '../route.ts'
import type { HistoryEntry } from '../schemas/deploy.ts'
import type { Edge } from '../schemas/edge.ts'

export function getEdge({ context: { storage, config } }: Call): Edge {
  const record = storage.actors.record(edgeId) as Edge | null
  if (record) return record
  const { mode, httpPort, httpsPort } = config.edge
  const never = { routes: null, error: null, serving_since: null, next_attempt_at: null, created_at: null }
  return { id: edgeId, status: 'off', mode, http_port: httpPort, https_port: httpsPort, ...never }
}

export function edgeHistory({ context: { storage } }: Call): HistoryEntry[] {
  return storage.actors.history(edgeId)
}
