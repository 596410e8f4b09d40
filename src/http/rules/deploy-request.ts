// The input of a deploy's actor: ids only, as settings and env are frozen when the deploy leaves the queue.
import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
import type { By } from '../../../storage/actors/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Deploy } from '../../api/deploy.ts'
import { conflict } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import type { Call } from '../pipeline/route.ts'
import { toDeploy } from '../records/deploy-record.ts'
import { requesterOf } from '../records/requester.ts'
import { decisiveDeploy, latestDeploy } from '../records/service-record.ts'

export type DeployRequest = DeployInput & { by: By }

export const noSource = { repo_url: null, branch: null, commit: null, image: null, deploy_id: null }

/** Its image, its repository (the branch's head, or the commit), or the last archive. Null without any. */
export function sourceOf(row: ServiceRow, commit: string | null = null): DeployRequest['source'] | null {
  const { repo_url, branch, image, archive_deploy_id } = row
  if (image) return { ...noSource, kind: 'image', image }
  if (repo_url) return { ...noSource, kind: 'git', repo_url, branch, commit }
  return archive_deploy_id ? { ...noSource, kind: 'archive', deploy_id: archive_deploy_id } : null
}

type Asked = Pick<DeployRequest, 'trigger' | 'source' | 'by'> &
  Partial<Pick<DeployRequest, 'id' | 'clearCache'>>

export function deployRequest(
  { config, storage }: HttpContext,
  row: ServiceRow,
  asked: Asked,
): DeployRequest {
  const id = storage.ids.newId('dep')
  const { deployLimits: limits } = config
  return { id, serviceId: row.id, clearCache: false, ...asked, limits, at: new Date().toISOString() }
}

export function previewDeploy({ actors, storage }: HttpContext, { by, ...input }: DeployRequest): Deploy {
  return toDeploy(storage, actors.preview('deploy', input.id, input, { by }))
}

export async function queueDeploy(
  context: HttpContext,
  request: DeployRequest,
  options: Parameters<HttpContext['actors']['spawn']>[3] = {},
): Promise<Deploy> {
  const { by, ...input } = request
  const { record } = await context.actors.spawn('deploy', request.id, input, { ...options, by })
  return toDeploy(context.storage, record)
}

/** Returns a queued deploy instead, unless its frozen settings miss changes. Throws `conflict`. */
export async function queueRestart(
  { context, caller, eventId }: Pick<Call, 'caller' | 'context'> & { eventId?: string | undefined },
  row: ServiceRow,
): Promise<Deploy> {
  assertNotSuspended(row)
  if (!reusableQueuedDeploy(context, row)) await assertRestartable(context, row)
  // Read again: the restart would cancel a deploy that was queued in the meantime, and drop its new code.
  const waiting = reusableQueuedDeploy(context, row)
  if (waiting) {
    if (eventId) await context.storage.events.record(eventId, new Date().toISOString(), waiting)
    return waiting
  }
  // It names no deploy: it uses the version that is live when it leaves the queue.
  const source = { ...noSource, kind: 'reuse' as const }
  const by = requesterOf({ context, caller })
  return queueDeploy(context, deployRequest(context, row, { trigger: 'restart', source, by }), { eventId })
}

/** The newest deploy, if it is queued and will still read the current settings. */
function reusableQueuedDeploy({ storage }: HttpContext, row: ServiceRow): Deploy | null {
  const latest = latestDeploy(storage, row.id)
  return latest?.status === 'queued' && !storage.releases.has(latest.id) ? latest : null
}

/** Throws `conflict` if there is nothing to restart. A running deploy counts: it may succeed. */
async function assertRestartable({ observe, storage }: HttpContext, row: ServiceRow): Promise<void> {
  if (decisiveDeploy(storage, row.id)?.status === 'running') return
  if (!row.live_deploy_id) throw conflict(`${row.name} has nothing to restart`, 'deploy it first')
  const live = storage.actors.record(row.live_deploy_id) as Deploy | null
  if (!live?.image || (await observe.hasImage(live.image)) !== false) return
  throw conflict(
    `the live image ${live.image} no longer exists: it was removed from Docker`,
    `${rebuildCommand(row, live) ?? `berth deploy ${row.name}`} builds it again`,
  )
}

/** Builds the same commit again; null if it is unknown, or from another repository. */
export function rebuildCommand({ name, repo_url }: ServiceRow, deploy: Deploy): string | null {
  const { commit_sha, source } = deploy
  if (!commit_sha || source.repo_url !== repo_url) return null
  return `berth deploy ${name} --commit ${commit_sha.slice(0, 7)}`
}

export function assertNotSuspended(row: ServiceRow): void {
  if (row.suspended) throw conflict(`${row.name} is suspended`, `berth resume ${row.name} first`)
}
