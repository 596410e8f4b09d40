// The state of the edge, and the version of its HAProxy.
import { edgeId } from '../domain/domains.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

export async function checkEdge({ config, stored }: Examined): Promise<Finding[] | string> {
  if (config.edge === 'off') return 'off (--edge off)'
  const edge = stored?.actors.record<'edge'>(edgeId)
  if (!edge) return 'not started yet'
  const { status, version, error, available, upgrade_error: reason } = edge
  const isDown = status !== 'serving' && status !== 'upgrading'
  const found = [
    ...(isDown || error
      ? [finding('edge_unavailable', { status, reason: error ?? 'it has not started' })]
      : []),
    ...(reason ? [finding('edge_upgrade_failed', { reason })] : []),
    ...(available
      ? [finding('edge_outdated', { version: version ?? '?', newer: available.version ?? '?' })]
      : []),
  ]
  return found.length > 0 ? found : `HAProxy ${version}, serving`
}
