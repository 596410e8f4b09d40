// Projections of a deploy's snapshot: the API record and the patch of the service row.
// Both are pure, and committed together with their transition.

import { problemFields } from '../problem.ts'
import type { DeploySnapshot } from './deploy.ts'

const statuses: Record<string, string> = {
  queued: 'queued',
  running: 'running',
  live: 'live',
  draining: 'deactivated',
  deactivated: 'deactivated',
  failing: 'failed',
  failed: 'failed',
  canceling: 'canceled',
  canceled: 'canceled',
}

export function toRecord(snapshot: DeploySnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    service_id: context.serviceId,
    status: statuses[rootState(snapshot)]!,
    phase: context.phase,
    trigger: context.trigger,
    source: context.source,
    image: imageOf(snapshot),
    port: context.port,
    port_source: context.portSource ?? null,
    health_check: context.healthCheck ?? null,
    warnings: context.warnings ?? [],
    commit_sha: context.commitSha,
    commit_message: context.commitMessage,
    ...problemFields(context.error),
    created_at: context.at,
    started_at: context.startedAt,
    finished_at: context.finishedAt,
  }
}

/** A failed or canceled deploy removes its own image. A reused image belongs to another deploy. */
function imageOf(snapshot: DeploySnapshot): string | null {
  const { image, source } = snapshot.context
  const hasFailed = ['failed', 'canceled'].includes(statuses[rootState(snapshot)]!)
  return hasFailed && source.kind !== 'reuse' ? null : image
}

/** The service row: `desired` is set before the switch of traffic, `live` with the state `live`. */
export function toService(snapshot: DeploySnapshot, before: DeploySnapshot | null) {
  const { id, formerDeployId, degraded } = snapshot.context
  if (snapshot.matches('live')) {
    if (before?.matches('live')) return { degraded, while_live: id }
    return { live_deploy_id: id, desired_deploy_id: id, degraded: false }
  }
  if (claimsService(snapshot)) return { desired_deploy_id: id }
  return before && claimsService(before) ? { desired_deploy_id: formerDeployId } : null
}

/**
 * With a disk, a deploy claims the service before its start, because the former instances must stop first. It
 * holds the claim until its cleanup is done, because the former instances need the disk to start again.
 */
function claimsService(snapshot: DeploySnapshot): boolean {
  const { exclusive, phase } = snapshot.context
  if (!exclusive) return snapshot.matches({ running: 'switching' })
  const holdsDisk = ['starting', 'checking', 'switching'].includes(phase ?? '')
  return holdsDisk && ['running', 'failing', 'canceling'].includes(rootState(snapshot))
}

function rootState(snapshot: DeploySnapshot): string {
  return typeof snapshot.value === 'string' ? snapshot.value : Object.keys(snapshot.value)[0]!
}
