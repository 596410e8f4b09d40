// What a deploy's snapshot means outside: the record that the API shows, and its part of the service row.
// Both are pure projections of one transition; they are committed with it or not at all.

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

/** The Deploy of section 2, and `phase`. */
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
    commit_sha: context.commitSha,
    commit_message: context.commitMessage,
    ...problemFields(context.error),
    created_at: context.at,
    started_at: context.startedAt,
    finished_at: context.finishedAt,
  }
}

/** A deploy that came to nothing removes its own image; one that it ran again belongs to another deploy. */
function imageOf(snapshot: DeploySnapshot): string | null {
  const { image, source } = snapshot.context
  const cameToNothing = ['failed', 'canceled'].includes(statuses[rootState(snapshot)]!)
  return cameToNothing && source.kind !== 'reuse' ? null : image
}

/**
 * What this transition writes of its service: desired before the switch is applied, live with `live` itself.
 */
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
 * With a disk the service is claimed from before the start, because the former instances have to stop first,
 * until the cleanup is done, because they may not come back while these still hold the disk.
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
