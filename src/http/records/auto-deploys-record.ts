// The automatic deploys of a service in responses.
import type { AutoDeployRecord } from '../../../machines/auto-deploy.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { AutoDeploys } from '../../api/auto-deploys.ts'
import { autoDeployIdOf, isUndecided, obstacleText, planOf } from '../../domain/auto-deploys.ts'

/** A parked actor has the status `failed` and an error. */
type Shown = Omit<AutoDeployRecord, 'status'> & { status: string }

export function toAutoDeploys({ actors }: Storage, service: ServiceRow): AutoDeploys {
  const found: Shown | null = actors.record<'auto-deploy'>(autoDeployIdOf(service.id))
  const plan = planOf(service)
  // A decision about a former source says nothing about this one.
  const record = found?.source === plan?.source ? found : null
  const known = {
    paused_by: null,
    undecided: isUndecided(service),
    since: null,
    decision: record?.decision ?? null,
    actor_id: found?.id ?? null,
  }
  const obstacle = plan === null ? 'off' : plan.obstacle
  if (obstacle !== null) {
    const status = obstacle === 'off' ? 'off' : 'paused'
    const pausedBy = obstacle === 'rolled_back' ? service.auto_deploy_paused_by! : null
    return { ...known, status, reason: obstacleText(service, obstacle), paused_by: pausedBy }
  }
  const error = record?.error ?? null
  if (error !== null) return { ...known, status: 'failing', reason: error, since: record!.failing_since }
  if (record?.checks === 'pending') return { ...known, status: 'waiting', reason: known.decision!.reason }
  return { ...known, status: 'watching', reason: null }
}
