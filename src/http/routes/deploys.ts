// Deploys, which actors run. 202 means committed: the deploy continues if the client disconnects.
import { z } from 'zod'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Commit } from '../../../storage/store/store.ts'
import {
  CreateDeploy,
  Deploy,
  DeployListQuery,
  DeployLogQuery,
  DeployParams,
  DeployQuery,
  DeploysQuery,
  PhaseTimes,
  PhaseTimesQuery,
  type Rollback,
  UploadQuery,
} from '../../api/deploy.ts'
import { Recipe } from '../../api/recipe.ts'
import { conflict, Failure, invalidField, invalidRequest, notFound } from '../../errors.ts'
import { type CallById, get, post, tagged, type Upload } from '../pipeline/route.ts'
import { phaseTimesOf } from '../records/deploy-phases.ts'
import { deployAdvice, findDeploy, toDeploy, toDeployWith } from '../records/deploy-record.ts'
import { pageOfService, pageOverServices } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import {
  assertNotSuspended,
  deployRequest,
  noSource,
  queueDeploy,
  sourceOf,
} from '../rules/deploy-request.ts'
import { findObstacle } from '../rules/rollback.ts'
import { storeUpload } from '../rules/upload.ts'
import { readsService, recordRoutes, runsService } from './record-routes.ts'

export const deployRoutes = tagged('Deploys', [
  get('/deploys', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the deploys of all services, newest first',
    description:
      'The deploys of all services, newest first. With selective filters, a page may have fewer entries ' +
      'than `limit`, or none, and still have a next page.',
    query: DeploysQuery,
    response: z.array(Deploy),
    problems: ['not_found'],
    handler: (call) =>
      pageOverServices(call, 'deploy', toDeployWith(call.context.storage, call.query.include)),
  }),
  get('/services/{id}/deploys', {
    ...readsService,
    summary: 'Lists the deploys of a service, newest first',
    query: DeployListQuery,
    response: z.array(Deploy),
    handler: (call) => pageOfService(call, 'deploy', toDeployWith(call.context.storage, call.query.include)),
  }),
  get('/services/{id}/phase-times', {
    ...readsService,
    summary: 'Returns how long the deploys of a service usually take, in total and by phase',
    description:
      'How long the newest successful deploys took, in total and by phase. Restarts and rollbacks do not ' +
      'count, because they skip most phases.',
    query: PhaseTimesQuery,
    response: PhaseTimes,
    handler: ({ context: { storage }, params, query }) =>
      phaseTimesOf(storage, findService(storage, params.id).id, query.last),
  }),
  get('/services/{id}/recipe', {
    ...readsService,
    summary: 'Returns the recipe of the newest deploy that was built by one',
    description:
      'The Dockerfile that Berth wrote for the newest deploy that was built without one of its author, and ' +
      'the reason of each choice. 404 if the service has no such deploy.',
    response: Recipe,
    handler: readRecipe,
  }),
  post('/services/{id}/deploys', {
    ...runsService,
    summary: 'Queues a deploy of the configured source',
    body: CreateDeploy,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: createDeploy,
  }),
  get('/deploys/{deploy_id}', {
    role: 'read',
    scope: 'record',
    summary: 'Returns a deploy',
    params: DeployParams,
    query: DeployQuery,
    response: Deploy,
    handler: ({ context: { storage }, params, query }) =>
      toDeployWith(storage, query.include)(findDeploy(storage, params.id)),
  }),
  ...recordRoutes('/deploys/{deploy_id}', {
    noun: 'a deploy',
    params: DeployParams,
    scope: 'record',
    find: findDeploy,
    logQuery: DeployLogQuery,
    why: {
      advise: (deploy, storage) => deployAdvice(storage, deploy),
      summary: 'Explains why a deploy failed, what to do about it, and how long each phase took',
      hasLog: true,
    },
  }),
  post('/deploys/{deploy_id}/cancel', {
    role: 'deploy',
    scope: 'record',
    summary: 'Cancels a queued or running deploy; the live one keeps serving',
    params: DeployParams,
    response: Deploy,
    problems: ['not_cancelable'],
    handler: cancelDeploy,
  }),
])

const maxDeploysSearched = 100

function readRecipe({ context: { storage }, params }: CallById): Recipe {
  const { id, name } = findService(storage, params.id)
  for (const deploy of storage.actors.list('deploy', id, maxDeploysSearched) as Deploy[]) {
    const recipe = deploy.source.kind === 'reuse' ? null : storage.releases.get(deploy.id)?.recipe
    if (recipe) return { deploy_id: deploy.id, ...recipe }
  }
  throw notFound(`no version of ${name} was built by a recipe`)
}

function createDeploy(call: CallById<unknown, CreateDeploy>): Promise<Deploy> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  assertNotDeleting(row)
  assertNotSuspended(row)
  const commit = body.commit === undefined ? null : context.parse.commit(body.commit)
  const source = sourceOf(row, commit)
  if (!source) {
    throw conflict(
      `${row.name} has nothing to deploy`,
      `berth up ${row.name} uploads a folder; berth update gives it a repository or an image`,
    )
  }
  if (commit !== null && source.kind !== 'git') {
    throw invalidField('commit', `${row.name} is not built from a repository`)
  }
  const asked = {
    trigger: 'manual',
    source,
    by: requesterOf(call),
    clearCache: body.clear_cache ?? false,
  } as const
  // With the head of the branch, the user is done with the rollback.
  const also = (commit: Commit) =>
    context.storage.services.patch(commit, row.id, { auto_deploy_paused_by: null })
  const isHead = commit === null && row.auto_deploy_paused_by
  return queueDeploy(context, deployRequest(context, row, asked), { eventId, ...(isHead && { also }) })
}

export async function rollbackService(call: CallById<unknown, Rollback>): Promise<Deploy> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  assertNotDeleting(row)
  assertNotSuspended(row)
  const target = findDeploy(context.storage, body.deploy_id)
  const obstacle = await findObstacle(context, row, target)
  if (obstacle) throw invalidField('deploy_id', obstacle.reason, obstacle.hint ?? undefined)
  const source = { ...target.source, kind: 'reuse' as const, deploy_id: target.id }
  const request = deployRequest(context, row, { trigger: 'rollback', source, by: requesterOf(call) })
  const pause = { auto_deploy_paused_by: request.id }
  const also = (commit: Commit) => context.storage.services.patch(commit, row.id, pause)
  return queueDeploy(context, request, { eventId, also })
}

async function cancelDeploy(call: CallById): Promise<Deploy> {
  const { context, params, eventId } = call
  const { id } = findDeploy(context.storage, params.id)
  const event = command(call, 'cancel')
  const { applied, record } = await context.actors.send(id, event, { eventId })
  if (!applied)
    throw new Failure('not_cancelable', `this deploy is ${record.status}: it can no longer be canceled`)
  return toDeploy(context.storage, record)
}

const mebibyte = 1024 * 1024
const gzipMagic = Buffer.of(0x1f, 0x8b)
const archiveUpload = {
  mediaTypes: ['application/gzip', 'application/x-gzip', 'application/octet-stream'],
  limitBytes: 512 * mebibyte,
  description:
    'The source as a .tar.gz, at most 512 MiB; a single folder at its top is left out, unless ' +
    'root_dir, dockerfile_path or publish_dir begins with it.',
}

export const uploadRoutes = tagged('Deploys', [
  post('/services/{id}/deploys/upload', {
    ...runsService,
    summary: 'Queues a deploy of the uploaded source, which is kept for later deploys until the next upload',
    query: UploadQuery,
    upload: archiveUpload,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: uploadDeploy,
  }),
])

/** The service is checked before the upload, and again in the transaction that creates the deploy. */
async function uploadDeploy(call: CallById<UploadQuery, Upload>): Promise<Deploy> {
  const { context, params, query, body, eventId } = call
  const { storage } = context
  const service = findService(storage, params.id)
  assertAcceptsUpload(service)
  const serviceId = service.id
  return storeUpload(context, body, {
    files: storage.archives,
    idPrefix: 'dep',
    headBytes: gzipMagic.length,
    checkHead: assertGzip,
    start(id) {
      const row = findService(storage, serviceId)
      const source = { ...noSource, kind: 'archive' as const }
      const upload = { id, source, clearCache: query.clear_cache, by: requesterOf(call) }
      const also = (commit: Commit) => {
        assertAcceptsUpload(findService(storage, serviceId))
        storage.services.patch(commit, serviceId, { archive_deploy_id: id })
      }
      return queueDeploy(context, deployRequest(context, row, { ...upload, trigger: 'upload' }), {
        eventId,
        also,
      })
    },
  })
}

function assertGzip(head: Buffer): void {
  if (head.equals(gzipMagic)) return
  const problem = head.length === 0 ? 'is empty' : 'is not a gzip archive'
  throw invalidRequest(`the body ${problem}`, 'send the source as a .tar.gz')
}

/** Throws `conflict` if the service cannot deploy an archive. */
function assertAcceptsUpload(row: ServiceRow): void {
  assertNotDeleting(row)
  assertNotSuspended(row)
  const source = row.repo_url ? 'repository' : row.image ? 'image' : null
  if (!source) return
  throw conflict(
    `${row.name} is deployed from its ${source}; archives are for services with neither repository nor image`,
    `berth deploy ${row.name}, or clear that setting first (berth update with an empty text)`,
  )
}
