// Whether a deploy can run again.
import type { ServiceRow } from '../../../storage/services.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { RollbackObstacle } from '../../api/deploy-diff.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { rebuildCommand } from './deploy-request.ts'

/** Why the deploy cannot run again. Null if it can, or if the engine does not respond. */
export async function findObstacle(
  { config, observe, storage }: Pick<HttpContext, 'config' | 'observe' | 'storage'>,
  row: ServiceRow,
  target: Deploy,
): Promise<RollbackObstacle | null> {
  if (target.service_id !== row.id)
    return { code: 'other_service', reason: 'is a deploy of another service', hint: null }
  if (target.status !== 'live' && target.status !== 'deactivated')
    return { code: 'never_live', reason: 'was never live', hint: null }
  const hint = rebuildCommand(row, target)
  if (!storage.releases.has(target.id)) {
    const kept = `the newest ${config.keepImages} of a service are kept (--keep-images)`
    return { code: 'image_removed', reason: `its image was removed: ${kept}`, hint }
  }
  if ((await observe.hasImage(target.image!)) !== false) return null
  return { code: 'image_missing', reason: 'its image no longer exists: it was removed from Docker', hint }
}

/** Also why the service accepts no rollback at all. */
export async function findAnyObstacle(
  context: Pick<HttpContext, 'config' | 'observe' | 'storage'>,
  row: ServiceRow,
  target: Deploy,
): Promise<RollbackObstacle | null> {
  if (row.deleting)
    return { code: 'deleting', reason: 'belongs to a service that is being deleted', hint: null }
  const obstacle = await findObstacle(context, row, target)
  if (obstacle || !row.suspended) return obstacle
  return {
    code: 'suspended',
    reason: 'belongs to a suspended service',
    hint: `berth resume ${row.name} first`,
  }
}
