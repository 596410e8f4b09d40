// Requests deploys, which actors run. 202 means committed: the deploy continues if the client disconnects.
import type { ServiceRow } from '../../../storage/services.ts'
import type {
  CreateDeploy,
  Deploy,
  DeployListQuery,
  DeployLogQuery,
  DeploysQuery,
  Rollback,
} from '../../api/deploy.ts'
import { Failure, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import type { Call, CallById, Events, WithHeaders } from '../pipeline/route.ts'
import { logEvents } from '../pipeline/sse.ts'
import { findDeploy, toDeploy } from '../records/deploy-record.ts'
import { showActorLine } from '../records/log-lines.ts'
import { paged, pageOverServices } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import {
  assertNotSuspended,
  queueDeploy,
  rebuildCommand,
  rollbackDeployRequest,
  sourceDeployRequest,
} from '../rules/deploy-request.ts'

export function listDeploys(call: CallById<DeployListQuery>): WithHeaders<Deploy[]> {
  const { storage } = call.context
  const { id } = findService(storage, call.params.id)
  const { records, next } = storage.actors.page('deploy', [id], call.query)
  return paged(
    call,
    records.map((record) => toDeploy(storage, record)),
    next,
  )
}

/** Deploys of all services that the caller may read. */
export function listAllDeploys(call: Call<unknown, DeploysQuery>): WithHeaders<Deploy[]> {
  return pageOverServices(call, 'deploy', (record) => toDeploy(call.context.storage, record))
}

export function createDeploy(call: CallById<unknown, CreateDeploy>): Promise<Deploy> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  assertNotDeleting(row)
  assertNotSuspended(row)
  const commit = body.commit === undefined ? undefined : context.parse.commit(body.commit)
  const deployRequest = sourceDeployRequest(context, row, {
    ...{ trigger: 'manual', by: requesterOf(call) },
    ...{ commit, clearCache: body.clear_cache },
  })
  if (!deployRequest) {
    throw new Failure(
      'conflict',
      `${row.name} has nothing to deploy`,
      `berth up ${row.name} uploads a folder; berth update gives it a repository or an image`,
    )
  }
  if (commit !== undefined && deployRequest.source.kind !== 'git') {
    throw invalidField('commit', `${row.name} is not built from a repository`)
  }
  return queueDeploy(context, deployRequest, { eventId })
}

/** Throws `invalid_request` if the deploy cannot run again. */
export async function rollbackService(call: CallById<unknown, Rollback>): Promise<Deploy> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  assertNotDeleting(row)
  assertNotSuspended(row)
  const target = findDeploy(context.storage, body.deploy_id)
  const obstacle = await findObstacle(context, row, target)
  if (obstacle) throw invalidField('deploy_id', obstacle.reason, obstacle.hint)
  return queueDeploy(context, rollbackDeployRequest(context, row, target, requesterOf(call)), { eventId })
}

interface Obstacle {
  reason: string
  hint?: string | undefined
}

/** Why the deploy cannot run again. Null if it can, or if the engine does not respond. */
async function findObstacle(context: HttpContext, row: ServiceRow, target: Deploy): Promise<Obstacle | null> {
  if (target.service_id !== row.id) return { reason: 'is a deploy of another service' }
  if (target.status !== 'live' && target.status !== 'deactivated') return { reason: 'was never live' }
  const hint = rebuildCommand(row, target) ?? undefined
  const { keepImages } = context.config
  if (!context.storage.releases.has(target.id)) {
    const reason = `its image was removed: the newest ${keepImages} of a service are kept (--keep-images)`
    return { reason, hint }
  }
  const isThere = await context.observe.hasImage(target.image!)
  return isThere === false ? { reason: 'its image no longer exists: it was removed from Docker', hint } : null
}

function invalidField(path: string, message: string, hint?: string): Failure {
  return new Failure('invalid_request', `${path}: ${message}`, hint, [{ path, code: 'invalid', message }])
}

export async function cancelDeploy(call: CallById): Promise<Deploy> {
  const { context, params, eventId } = call
  const { id } = findDeploy(context.storage, params.id)
  const event = command(call, 'cancel')
  const { applied, record } = await context.actors.send(id, event, { eventId })
  if (!applied)
    throw new Failure('not_cancelable', `this deploy is ${record.status}: it can no longer be canceled`)
  return toDeploy(context.storage, record)
}

export function deployLogs(call: CallById<DeployLogQuery>): Events {
  const { context, params, query, lastEventId, log } = call
  const { id } = findDeploy(context.storage, params.id)
  return logEvents(context.storage.logs, id, {
    follow: query.follow,
    after: lastEventId ?? 0,
    show: showActorLine,
    onError: (error) => log.error({ deploy_id: id, reason: messageOf(error) }, 'a log could not be read'),
  })
}
