// Requests job runs, which actors execute. 202 means committed: the run continues if the client disconnects.
import type { JobRunInput } from '../../../machines/job-run/job-run.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { CreateJob, JobListQuery, JobLogQuery, JobRun, JobsQuery } from '../../api/job.ts'
import { timeoutOf } from '../../domain/job-defaults.ts'
import { Failure, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import type { Call, CallById, Events, WithHeaders } from '../pipeline/route.ts'
import { logEvents } from '../pipeline/sse.ts'
import { findJob, toJobRun } from '../records/deploy-record.ts'
import { showActorLine } from '../records/log-lines.ts'
import { paged, pageOverServices } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import { assertNotSuspended } from '../rules/deploy-request.ts'

export function listJobs(call: CallById<JobListQuery>): WithHeaders<JobRun[]> {
  const { storage } = call.context
  const { id } = findService(storage, call.params.id)
  const { records, next } = storage.actors.page('job-run', [id], call.query)
  return paged(
    call,
    records.map((record) => toJobRun(storage, record)),
    next,
  )
}

/** Runs of all services that the caller may read. */
export function listAllJobs(call: Call<unknown, JobsQuery>): WithHeaders<JobRun[]> {
  return pageOverServices(call, 'job-run', (record) => toJobRun(call.context.storage, record))
}

export async function createJob(call: CallById<unknown, CreateJob>): Promise<JobRun> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  assertNotDeleting(row)
  assertNotSuspended(row)
  const command = commandOf(row, body)
  const id = context.storage.ids.newId('job')
  const input: JobRunInput = {
    id,
    serviceId: row.id,
    command,
    image: liveImage(context, row),
    trigger: 'manual',
    scheduledFor: null,
    overlap: command === null ? (row.overlap ?? 'skip') : null,
    timeoutSeconds: body.timeout_seconds ?? timeoutOf(row),
    at: new Date().toISOString(),
  }
  const { record } = await context.actors.spawn('job-run', id, input, {
    eventId,
    by: requesterOf(call),
  })
  return toJobRun(context.storage, record)
}

/**
 * Null for the command of a cron job. Throws `invalid_request`, and `conflict` for an image without a shell.
 */
function commandOf({ name, type }: ServiceRow, body: CreateJob): string | null {
  if (type === 'static_site') {
    throw new Failure('conflict', `${name} is a static site: its image cannot run commands`)
  }
  const command = body.command?.trim() ? body.command : null
  if (command === null && type !== 'cron_job') {
    const message = 'is required: only a cron job has its own command'
    const field = { path: 'command', code: 'required', message }
    throw new Failure('invalid_request', `command: ${message}`, undefined, [field])
  }
  return command
}

function liveImage({ storage }: HttpContext, { name, live_deploy_id }: ServiceRow): string {
  const live = live_deploy_id ? (storage.actors.record(live_deploy_id) as Deploy | null) : null
  if (live?.image) return live.image
  throw new Failure(
    'conflict',
    `${name} has no live deploy to run a command in`,
    `berth deploy ${name} first`,
  )
}

export async function cancelJob(call: CallById): Promise<JobRun> {
  const { context, params, eventId } = call
  const { id } = findJob(context.storage, params.id)
  const event = command(call, 'cancel')
  const { applied, record } = await context.actors.send(id, event, { eventId })
  if (applied) return toJobRun(context.storage, record)
  throw new Failure('not_cancelable', `this run is ${record.status}: it can no longer be canceled`)
}

export function jobLogs(call: CallById<JobLogQuery>): Events {
  const { context, params, query, lastEventId, log } = call
  const { id } = findJob(context.storage, params.id)
  return logEvents(context.storage.logs, id, {
    follow: query.follow,
    after: lastEventId ?? 0,
    show: showActorLine,
    onError: (error) => log.error({ job_id: id, reason: messageOf(error) }, 'a log could not be read'),
  })
}
