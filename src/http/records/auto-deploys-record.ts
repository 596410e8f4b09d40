// The automatic deploys of a service in responses.
import type { AutoDeployRecord } from '../../../machines/auto-deploy.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { AutoDeploys } from '../../api/auto-deploys.ts'
import { autoDeployIdOf, planOf } from '../../domain/auto-deploys.ts'

/** A parked actor has the status `failed` and an error. */
type Shown = Omit<AutoDeployRecord, 'status'> & { status: string }

export function toAutoDeploys({ actors }: Storage, service: ServiceRow): AutoDeploys {
  const found: Shown | null = actors.record<'auto-deploy'>(autoDeployIdOf(service.id))
  const plan = planOf(service)
  // A decision about a former source says nothing about this one.
  const record = found?.source === plan?.source ? found : null
  const decision = record?.decision ?? null
  const obstacle = plan === null ? 'off' : plan.obstacle
  const shown = { since: null, decision }
  if (obstacle === 'off') return { ...shown, status: 'off', reason: offReason(service) }
  if (obstacle === 'suspended') return { ...shown, status: 'paused', reason: `${service.name} is suspended` }
  if (obstacle === 'rolled_back') return { ...shown, status: 'paused', reason: rollbackReason(service) }
  const error = record?.error ?? null
  if (error !== null) return { status: 'failing', reason: error, since: record!.failing_since, decision }
  return { ...shown, status: 'watching', reason: null }
}

function offReason({ name, auto_deploy, repo_url, image }: ServiceRow): string {
  if (!auto_deploy) return `berth update ${name} --auto-deploy on deploys each push`
  if (repo_url === null && image === null) return 'it has neither a repository nor an image'
  return 'an image with a digest never changes'
}

function rollbackReason({ name, auto_deploy_paused_by: id }: ServiceRow): string {
  return `${id} rolled ${name} back; berth update ${name} --auto-deploy on resumes it`
}
