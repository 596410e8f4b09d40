// Deploys: asked for here, carried out by their actors.
// Mind: 202 means committed; the deploy goes on whatever becomes of the request.
import type { HistoryEntry } from '../../../storage/actors.ts'
import { Failure, messageOf } from '../../errors.ts'
import type { HttpContext } from '../context.ts'
import { queueDeploy, refuseSuspended, requestSource } from '../deploy-request.ts'
import type { Call, Events } from '../route.ts'
import type { CreateDeploy, Deploy, DeployLogQuery, DeployParams, ListQuery } from '../schemas/deploy.ts'
import type { ServiceParams } from '../schemas/service.ts'
import { findService, refuseDeleting } from '../service-record.ts'
import { logEvents } from '../sse.ts'

export function listDeploys({
  context: { storage },
  params,
  query,
}: Call<ServiceParams, ListQuery>): Deploy[] {
  const { id } = findService(storage, params.id)
  return storage.actors.list('deploy', id, query.limit) as Deploy[]
}

export function createDeploy(call: Call<ServiceParams, unknown, CreateDeploy>): Promise<Deploy> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  refuseDeleting(row)
  refuseSuspended(row)
  if (!row.repo_url) {
    throw new Failure(
      'conflict',
      `${row.name} has nothing to deploy`,
      'give it a repository: PATCH with repo_url',
    )
  }
  const commit = body.commit === undefined ? undefined : context.parse.commit(body.commit)
  const asked = requestSource(context, row, { trigger: 'manual', commit, clearCache: body.clear_cache })
  return queueDeploy(context, asked, eventId ? { eventId } : {})
}

export function getDeploy({ context, params }: Call<DeployParams>): Deploy {
  return findDeploy(context, params.id)
}

export async function cancelDeploy({ context, params, eventId }: Call<DeployParams>): Promise<Deploy> {
  const { id } = findDeploy(context, params.id)
  const event = { type: 'cancel', at: new Date().toISOString(), by: 'the API' }
  const { applied, record } = await context.actors.send(id, event, eventId === undefined ? {} : { eventId })
  if (!applied)
    throw new Failure('not_cancelable', `this deploy is ${record.status}: it cannot be canceled any more`)
  return record as Deploy
}

export function deployHistory({ context, params }: Call<DeployParams>): HistoryEntry[] {
  return context.storage.actors.history(findDeploy(context, params.id).id)
}

export function deployLogs(call: Call<DeployParams, DeployLogQuery>): Events {
  const { context, params, query, lastEventId, log } = call
  const { id } = findDeploy(context, params.id)
  return logEvents(context.storage.logs, id, {
    follow: query.follow,
    after: lastEventId ?? 0,
    onError: (error) => log.error({ deploy_id: id, reason: messageOf(error) }, 'a log could not be read'),
  })
}

/** By id only. Throws `not_found`, for actors of other kinds too. */
function findDeploy({ storage }: HttpContext, id: string): Deploy {
  const record = id.startsWith('dep-') ? storage.actors.record(id) : null
  if (!record) throw new Failure('not_found', 'there is no such deploy')
  return record as Deploy
}
