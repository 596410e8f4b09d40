// Job runs and the schedules of cron jobs. 202 means committed: the run continues if the client disconnects.
import { z } from 'zod'
import type { JobRunInput } from '../../../machines/job-run.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { hasRole } from '../../account/rights.ts'
import { HistoryEntry } from '../../api/actor.ts'
import type { Deploy } from '../../api/deploy.ts'
import { CreateJob, JobListQuery, JobLogQuery, JobParams, JobRun, JobsQuery } from '../../api/job.ts'
import { Schedule } from '../../api/schedule.ts'
import { scheduleIdOf, timeoutOf } from '../../domain/service-types.ts'
import { conflict, Failure, invalidField, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type CallById, get, post, tagged } from '../pipeline/route.ts'
import { findJob, readJob, runAdvice, toJobRun } from '../records/deploy-record.ts'
import { pageOfService, pageOverServices } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { toSchedule } from '../records/schedule-record.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import { assertNotSuspended } from '../rules/deploy-request.ts'
import { readsService, recordRoutes, runsService } from './record-routes.ts'

export const jobRoutes = tagged('Jobs', [
  get('/jobs', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the job runs of all services, newest first',
    description:
      'The job runs of all services, newest first. With selective filters, a page may have fewer entries ' +
      'than `limit`, or none, and still have a next page.',
    query: JobsQuery,
    response: z.array(JobRun),
    problems: ['not_found'],
    handler: (call) => pageOverServices(call, 'job-run', (record) => toJobRun(call.context.storage, record)),
  }),
  get('/services/{id}/jobs', {
    ...readsService,
    summary: 'Lists the job runs of a service, newest first; by default the newest 1000 are kept',
    query: JobListQuery,
    response: z.array(JobRun),
    handler: (call) => pageOfService(call, 'job-run', (record) => toJobRun(call.context.storage, record)),
  }),
  post('/services/{id}/jobs', {
    ...runsService,
    summary: 'Runs a command, or the command of a cron job, in a new container of the live version',
    body: CreateJob,
    response: JobRun,
    status: 202,
    problems: ['conflict'],
    handler: createJob,
  }),
  ...recordRoutes('/jobs/{job_id}', {
    noun: 'a job run',
    params: JobParams,
    scope: 'record',
    find: findJob,
    show: { response: JobRun, read: readJob },
    logQuery: JobLogQuery,
    why: { advise: (run, storage) => runAdvice(storage, run), hasLog: true },
  }),
  post('/jobs/{job_id}/cancel', {
    role: 'deploy',
    scope: 'record',
    summary: 'Cancels a pending or running job run: SIGTERM, ten seconds, SIGKILL',
    params: JobParams,
    response: JobRun,
    problems: ['not_cancelable'],
    handler: cancelJob,
  }),
  get('/services/{id}/schedule', {
    ...readsService,
    summary: 'Returns the schedule of a cron job: its next runs, its last run, and why one was skipped',
    response: Schedule,
    handler: ({ context: { storage }, params }) => toSchedule(storage, findScheduled(storage, params.id)),
  }),
  get('/services/{id}/schedule/history', {
    ...readsService,
    summary: 'Lists the transitions of a schedule: the first 10 and the last 500',
    response: z.array(HistoryEntry),
    handler: ({ context: { storage }, params }) =>
      storage.actors.history(scheduleIdOf(findScheduled(storage, params.id).id)),
  }),
])

async function createJob(call: CallById<unknown, CreateJob>): Promise<JobRun> {
  const { context, params, body, eventId } = call
  const row = findService(context.storage, params.id)
  assertNotDeleting(row)
  assertNotSuspended(row)
  const command = commandOf(row, body)
  if (body.stdin && !(call.caller && hasRole(call.caller, 'admin'))) {
    const hint = 'create a token with the role admin on the page /account'
    throw new Failure('insufficient_role', 'sending input needs a token with the role admin', hint)
  }
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
    stdin: body.stdin ?? false,
    at: new Date().toISOString(),
  }
  const { record } = await context.actors.spawn('job-run', id, input, { eventId, by: requesterOf(call) })
  return toJobRun(context.storage, record)
}

/** Null for a cron job's command. Throws `invalid_request`, and `conflict` for an image without a shell. */
function commandOf({ name, type }: ServiceRow, body: CreateJob): string | null {
  if (type === 'static_site') throw conflict(`${name} is a static site: its image cannot run commands`)
  const command = body.command?.trim() ? body.command : null
  if (command === null && type !== 'cron_job') {
    const message = 'is required: only a cron job has its own command'
    throw invalidField('command', message, `berth run ${name} -- COMMAND`, 'required')
  }
  return command
}

function liveImage({ storage }: HttpContext, { name, live_deploy_id }: ServiceRow): string {
  const live = live_deploy_id ? (storage.actors.record(live_deploy_id) as Deploy | null) : null
  if (live?.image) return live.image
  throw conflict(`${name} has no live deploy to run a command in`, `berth deploy ${name} first`)
}

async function cancelJob(call: CallById): Promise<JobRun> {
  const { context, params, eventId } = call
  const { id } = findJob(context.storage, params.id)
  const event = command(call, 'cancel')
  const { applied, record } = await context.actors.send(id, event, { eventId })
  if (applied) return toJobRun(context.storage, record)
  throw new Failure('not_cancelable', `this run is ${record.status}: it can no longer be canceled`)
}

function findScheduled(storage: Storage, idOrName: string): ServiceRow {
  const row = findService(storage, idOrName)
  if (row.schedule !== null) return row
  throw notFound(`${row.name} has no schedule: it is not a cron job`)
}
