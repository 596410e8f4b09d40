// Routes of job runs, their logs, and schedules.
import { z } from 'zod'
import { HistoryEntry } from '../../api/deploy.ts'
import { LogEvents } from '../../api/feed.ts'
import { CreateJob, JobListQuery, JobLogQuery, JobParams, JobRun, JobsQuery } from '../../api/job.ts'
import { Why } from '../../api/parts/failure.ts'
import { Schedule } from '../../api/schedule.ts'
import { ServiceParams } from '../../api/service.ts'
import * as jobs from '../handlers/jobs.ts'
import * as schedules from '../handlers/schedules.ts'
import * as why from '../handlers/why.ts'
import { route, tagged, v1 } from '../pipeline/route.ts'

export const jobRoutes = tagged('Jobs', [
  route({
    method: 'GET',
    path: `${v1}/jobs`,
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the job runs of all services, newest first',
    description:
      'The job runs of all services, newest first. With selective filters, a page may have fewer entries ' +
      'than `limit`, or none, and still have a next page.',
    query: JobsQuery,
    response: z.array(JobRun),
    problems: ['not_found'],
    handler: jobs.listAllJobs,
  }),
  route({
    method: 'GET',
    path: `${v1}/services/{id}/jobs`,
    role: 'read',
    scope: 'service',
    summary: 'Lists the job runs of a service, newest first; the newest 1000 are kept',
    params: ServiceParams,
    query: JobListQuery,
    response: z.array(JobRun),
    handler: jobs.listJobs,
  }),
  route({
    method: 'POST',
    path: `${v1}/services/{id}/jobs`,
    role: 'deploy',
    scope: 'service',
    summary: 'Runs a command, or the command of a cron job, in a new container of the live version',
    params: ServiceParams,
    body: CreateJob,
    response: JobRun,
    status: 202,
    problems: ['conflict'],
    handler: jobs.createJob,
  }),
  route({
    method: 'GET',
    path: `${v1}/services/{id}/schedule`,
    role: 'read',
    scope: 'service',
    summary: 'Returns the schedule of a cron job: its next runs, its last run, and why one was skipped',
    params: ServiceParams,
    response: Schedule,
    handler: schedules.getSchedule,
  }),
  route({
    method: 'GET',
    path: `${v1}/services/{id}/schedule/history`,
    role: 'read',
    scope: 'service',
    summary: 'Lists the transitions of a schedule: the first 10 and the last 500',
    params: ServiceParams,
    response: z.array(HistoryEntry),
    handler: schedules.scheduleHistory,
  }),
  route({
    method: 'GET',
    path: `${v1}/jobs/{job_id}`,
    role: 'read',
    scope: 'record',
    summary: 'Returns a job run',
    params: JobParams,
    response: JobRun,
    handler: jobs.getJob,
  }),
  route({
    method: 'POST',
    path: `${v1}/jobs/{job_id}/cancel`,
    role: 'deploy',
    scope: 'record',
    summary: 'Cancels a pending or running job run: SIGTERM, ten seconds, SIGKILL',
    params: JobParams,
    response: JobRun,
    problems: ['not_cancelable'],
    handler: jobs.cancelJob,
  }),
  route({
    method: 'GET',
    path: `${v1}/jobs/{job_id}/logs`,
    role: 'read',
    scope: 'record',
    summary: 'Streams the log of a job run: `log` for each line, `end` when the run has finished',
    params: JobParams,
    query: JobLogQuery,
    response: 'stream',
    events: LogEvents,
    handler: jobs.jobLogs,
  }),
  route({
    method: 'GET',
    path: `${v1}/jobs/{job_id}/history`,
    role: 'read',
    scope: 'record',
    summary: 'Lists the transitions of a job run: the first 10 and the last 500',
    params: JobParams,
    response: z.array(HistoryEntry),
    handler: jobs.jobHistory,
  }),
  route({
    method: 'GET',
    path: `${v1}/jobs/{job_id}/why`,
    role: 'read',
    scope: 'record',
    summary: 'Explains why a job run failed, and what to do about it',
    params: JobParams,
    response: Why,
    handler: why.whyJob,
  }),
])
