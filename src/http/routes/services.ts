// Services: the desired state, which the live deploy watches. Repository URLs are sent without credentials.
import { z } from 'zod'
import type { JobRunRecord } from '../../../machines/job-run.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { reachesService } from '../../account/rights.ts'
import { Deploy, Rollback } from '../../api/deploy.ts'
import { ServiceLogEvents } from '../../api/feed.ts'
import {
  CreateService,
  DeleteQuery,
  ScaleService,
  Service,
  ServiceParams,
  UpdateService,
} from '../../api/service.ts'
import { type InstanceRole, ServiceLogQuery, ServiceStatus } from '../../api/status.ts'
import { wantedInstances } from '../../domain/service-types.ts'
import { conflict, invalidField, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, del, type Events, get, patch, post, tagged } from '../pipeline/route.ts'
import { logEvents } from '../pipeline/sse.ts'
import { envBodyLimitBytes } from '../pipeline/validation.ts'
import { parkedReason } from '../records/actor-record.ts'
import { showAccessLine, showRuntimeLine } from '../records/log-lines.ts'
import { requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService, stateOf, toService } from '../records/service-record.ts'
import { awaitRecord } from '../records/stored-record.ts'
import { trashExpiry } from '../records/trash-record.ts'
import { deployRequest, previewDeploy, queueDeploy, queueRestart, sourceOf } from '../rules/deploy-request.ts'
import { assertEnvSize, assertNotReferenced } from '../rules/env.ts'
import { assertHostsFree, changedRow, changeService, checkRow, newRow } from '../rules/service-rules.ts'
import { rollbackService } from './deploys.ts'
import { assertKept, findKeptDisk } from './disks.ts'
import { readsService, runsService } from './record-routes.ts'

const suspendService = (call: CallById) => setFields(call, { suspended: true })
const resumeService = (call: CallById) => setFields(call, { suspended: false })

export const serviceRoutes = tagged('Services', [
  get('/services', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists all services, by name',
    response: z.array(Service),
    handler({ context, caller }) {
      const rows = context.storage.services.list().filter(({ id }) => reachesService(caller, id))
      return rows.map((row) => toService(context, row))
    },
  }),
  post('/services', {
    summary: 'Creates a service and, with a repository or an image, queues its first deploy',
    body: CreateService,
    bodyLimitBytes: envBodyLimitBytes,
    response: Service,
    status: 201,
    problems: ['name_taken', 'conflict', 'not_found', 'in_use', 'docker_unavailable'],
    handler: createService,
  }),
  get('/services/{id}', {
    ...readsService,
    summary: 'Returns a service',
    response: Service,
    handler: ({ context, params }) => toService(context, findService(context.storage, params.id)),
  }),
  patch('/services/{id}', {
    summary:
      'Changes settings. Instances, suspended, domains and edge settings take effect ' +
      'immediately, the rest with ' +
      'the next deploy or restart',
    params: ServiceParams,
    body: UpdateService,
    response: Service,
    problems: ['conflict'],
    handler: updateService,
  }),
  del('/services/{id}', {
    summary: 'Deletes a service; its disk is kept unless the query says otherwise',
    params: ServiceParams,
    query: DeleteQuery,
    problems: ['conflict', 'in_use'],
    handler: deleteService,
  }),
  get('/services/{id}/status', {
    ...readsService,
    summary: 'Returns the current instances of a service',
    response: ServiceStatus,
    problems: ['docker_error', 'docker_unavailable'],
    handler: serviceStatus,
  }),
  get('/services/{id}/logs', {
    ...readsService,
    summary:
      'Streams the output of the instances, or with `access` their requests: `log` for each line, `end` ' +
      'after the last one, unless the log is followed',
    query: ServiceLogQuery,
    response: 'stream',
    events: ServiceLogEvents,
    problems: ['conflict'],
    handler: serviceLogs,
  }),
  post('/services/{id}/restart', {
    ...runsService,
    summary: 'Restarts the live image with the current settings and env',
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler(call) {
      const row = findService(call.context.storage, call.params.id)
      assertNotDeleting(row)
      return queueRestart(call, row)
    },
  }),
  post('/services/{id}/rollback', {
    ...runsService,
    summary: 'Rolls back to the image, settings and env of an earlier deploy',
    body: Rollback,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: rollbackService,
  }),
  post('/services/{id}/suspend', {
    ...runsService,
    summary: 'Stops all instances until the service is resumed',
    response: Service,
    problems: ['conflict'],
    handler: suspendService,
  }),
  post('/services/{id}/resume', {
    ...runsService,
    summary: 'Starts the instances of a suspended service',
    response: Service,
    problems: ['conflict'],
    handler: resumeService,
  }),
  post('/services/{id}/scale', {
    ...runsService,
    summary: 'Sets the number of instances, effective immediately',
    body: ScaleService,
    response: Service,
    problems: ['conflict'],
    handler: (call) => setFields(call, { instances: call.body.instances }),
  }),
])

async function createService(call: Call<unknown, unknown, CreateService>): Promise<Service> {
  const { context, body, eventId } = call
  const { storage } = context
  const { credentials, ...source } = parseSource(context, body)
  if (body.kept_disk && !body.disk_mount_path) throw invalidField('kept_disk', 'needs disk_mount_path')
  const disk = body.kept_disk ? await findKeptDisk(context, body.kept_disk) : null
  const made = { id: storage.ids.newId('svc'), at: new Date().toISOString(), ...source }
  const row = { ...newRow(body, made), ...(disk && { disk_volume: disk.name }) }
  checkRow(row)
  const vars = body.env ?? []
  assertEnvSize(vars)
  const origin = body.deploy ? sourceOf(row) : null
  const first =
    origin && deployRequest(context, row, { trigger: 'create', source: origin, by: requesterOf(call) })
  const answer = toService(context, row, first && previewDeploy(context, first))
  const also = () => {
    assertHostsFree(context, row, null)
    if (disk) assertKept(context, disk)
    storage.env.put(row.id, vars)
    storage.credentials.put(row.id, credentials)
  }
  const options = { also, ...(eventId ? { event: { id: eventId, answer } } : {}) }
  // In one transaction, so that the service and the deploy in the response both exist.
  if (first)
    await queueDeploy(context, first, { also: (commit) => storage.services.insert(commit, row, options) })
  else await storage.services.create(row, options)
  return answer
}

async function updateService(call: CallById<unknown, UpdateService>): Promise<Service> {
  const { context, params, body } = call
  const { id } = findService(context.storage, params.id)
  const { credentials, ...source } = parseSource(context, body)
  const changes = { at: new Date().toISOString(), ...source }
  let isMoved = false
  // Responses omit credentials, so a client that sends the same URL back keeps the stored ones.
  const also = () => {
    if (isMoved || credentials) context.storage.credentials.put(id, credentials)
  }
  const row = await changeService(
    call,
    id,
    (row) => {
      isMoved = changes.repoUrl !== undefined && changes.repoUrl !== row.repo_url
      const changed = changedRow(row, body, changes)
      checkRow(changed)
      return changed
    },
    { also, isForced: credentials !== null },
  )
  if (row.suspended) await waitForRunsToEnd(context.storage, id)
  return toService(context, row)
}

/** The source in normal form: absent fields stay absent, cleared fields are null. */
function parseSource(
  { parse }: HttpContext,
  { repo_url, branch, image }: Pick<UpdateService, 'repo_url' | 'branch' | 'image'>,
) {
  const repository = repo_url ? parse.repository(repo_url) : null
  return {
    repoUrl: repository ? repository.url : (repo_url as null | undefined),
    credentials: repository?.credentials ?? null,
    branch: branch ? parse.branch(branch) : branch,
    image: image ? parse.image(image) : image,
  }
}

async function setFields(call: CallById, fields: Partial<ServiceRow>): Promise<Service> {
  const { storage } = call.context
  const { id } = findService(storage, call.params.id)
  const row = await changeService(call, id, (row) => {
    const changed = { ...row, ...fields, updated_at: new Date().toISOString() }
    checkRow(changed)
    return changed
  })
  if (row.suspended) await waitForRunsToEnd(storage, id)
  return toService(call.context, row)
}

async function deleteService(call: CallById<DeleteQuery>): Promise<undefined> {
  const { context, params, query } = call
  const row = findService(context.storage, params.id)
  if (!query.force && !row.deleting) {
    const hint = `berth delete ${row.name} --force deletes it anyway`
    assertNotReferenced(context.storage, { noun: 'service', name: row.name }, hint)
  }
  const { id } = row
  const at = new Date().toISOString()
  const expiresAt = query.delete_disk ? trashExpiry(context, query.purge) : null
  const disk = { id: context.storage.ids.newId('dsk'), disk: context.diskOf(row) }
  const trash = expiresAt && { ...disk, serviceName: row.name, expiresAt }
  const removal = { id, serviceId: id, deleteDisk: query.delete_disk, trash, at }
  const also = () => {
    const [restore] = context.storage.actors.active('restore', id)
    if (restore)
      throw conflict(
        `${restore.id} restores its disk`,
        `berth api POST /restores/${restore.id}/cancel cancels it`,
      )
  }
  const options = { also, by: requesterOf(call) }
  const { record } = await context.actors.spawn('service-removal', id, removal, options)
  await waitForRunsToEnd(context.storage, id)
  if (query.delete_disk && record.delete_disk === false) {
    throw conflict(`${row.name} is already being deleted, and its disk is kept`)
  }
}

async function serviceStatus({ context, params }: CallById): Promise<ServiceStatus> {
  const { id } = findService(context.storage, params.id)
  const running = await context.observe.instances(id)
  const row = findService(context.storage, id)
  const state = stateOf(context.storage, row)
  return {
    service_id: row.id,
    state,
    reason: reasonOf(context, row, state),
    desired_instances: row.suspended ? 0 : wantedInstances(row),
    traffic: isPublic(row) ? (context.traffic?.of(id) ?? null) : null,
    instances: running.map((instance) => ({
      ...instance,
      role: roleOf(context.storage, row, instance.deploy_id),
    })),
  }
}

function reasonOf(
  { observe, storage }: HttpContext,
  row: ServiceRow,
  state: Service['state'],
): string | null {
  const reason = state === 'degraded' ? observe.degradedReason(row.live_deploy_id!) : null
  return reason ?? parkedReason(storage, row.id, row.live_deploy_id)
}

function isPublic({ type }: ServiceRow): boolean {
  return type === 'web_service' || type === 'static_site'
}

function roleOf({ actors }: Storage, row: ServiceRow, deployId: string): InstanceRole | null {
  if (deployId === row.live_deploy_id) return 'live'
  const status = actors.record(deployId)?.status
  if (status === 'queued' || status === 'running') return 'starting'
  // A deploy with status `live` that is not the live deploy is about to be replaced.
  if (status === 'live' || status === 'deactivated') return 'draining'
  return status === 'failed' || status === 'canceled' ? 'removing' : null
}

/** Reads stored logs, because the containers may be gone and the engine unavailable. */
function serviceLogs(call: CallById<ServiceLogQuery>): Events {
  const { context, params, query, lastEventId, log } = call
  const { id, name, type } = findService(context.storage, params.id)
  if (type === 'cron_job') {
    const hint = `berth jobs ${name} lists them`
    throw conflict(`the output of a cron job is in the logs of its runs`, hint)
  }
  const { runtimeLogs, accessLogs } = context.storage
  const logs = query.access ? accessLogs : runtimeLogs
  const tailStart = Math.max(logs.head(id) - query.tail, logs.first(id) - 1)
  return logEvents(logs, id, {
    follow: query.follow,
    after: lastEventId ?? tailStart,
    show: query.access ? showAccessLine : showRuntimeLine,
    isEndless: true,
    onError: (error) => log.error({ service_id: id, reason: messageOf(error) }, 'a log could not be read'),
  })
}

const runsTimeoutMs = 5000

async function waitForRunsToEnd(storage: Storage, serviceId: string): Promise<void> {
  const isFinished = ({ status }: JobRunRecord) => status !== 'pending' && status !== 'running'
  const active = [...storage.actors.active('job-run', serviceId)]
  await Promise.all(active.map(({ id }) => awaitRecord<'job-run'>(storage, id, runsTimeoutMs, isFinished)))
}
