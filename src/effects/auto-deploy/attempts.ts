// The versions that a service has deployed or tried to deploy from its source.
import type { DeploySource } from '../../../machines/deploy/deploy-context.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { commitOf } from '../../domain/commit-reports.ts'

type Deploy = RecordOf<'deploy'>

/** Deploys that are searched for one that is neither a restart nor a rollback. */
const maxSearched = 100

/** The newest deploy that fetched or pulled a version, or will. */
export function newestAttempt(storage: Storage, serviceId: string): Deploy | null {
  return attempts(storage, serviceId)[0] ?? null
}

function attempts(storage: Storage, serviceId: string): Deploy[] {
  const deploys = storage.actors.list('deploy', serviceId, maxSearched) as Deploy[]
  return deploys.filter(({ source }) => source.kind !== 'reuse')
}

/** How often the newest attempts failed because they could not read the same version. */
export function unreadCount(storage: Storage, serviceId: string): number {
  const all = attempts(storage, serviceId)
  const end = all.findIndex((deploy) => !isUnread(deploy) || versionOf(deploy) !== versionOf(all[0]!))
  return end < 0 ? all.length : end
}

/** The provider was away, or the git connection of the service was not usable. */
export function isUnread({ status, phase, error_code }: Deploy): boolean {
  return status === 'failed' && phase === 'fetching' && error_code === 'git_remote_unreachable'
}

export function isUnfinished({ status }: Deploy): boolean {
  return status === 'queued' || status === 'running'
}

/** The commit or the digest; null as long as it is unknown. */
export function versionOf(deploy: Deploy): string | null {
  const { image } = deploy.source
  return image === null ? commitOf(deploy) : (image.split('@')[1] ?? null)
}

/** The deploy whose commit new ones are compared with, maybe of another repository; null without one. */
export function baseOf(storage: Storage, service: ServiceRow): Deploy | null {
  const newest = newestAttempt(storage, service.id)
  if (newest !== null && isUnfinished(newest)) return newest
  return service.live_deploy_id ? storage.actors.record<'deploy'>(service.live_deploy_id) : null
}

export function sourceOf({ repo_url, branch, image }: ServiceRow, head: string): DeploySource {
  const source = { repo_url: null, branch: null, commit: null, image: null, deploy_id: null }
  if (image !== null) return { ...source, kind: 'image', image }
  return { ...source, kind: 'git', repo_url, branch, commit: head }
}
