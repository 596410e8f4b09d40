// Routes of job runs, their logs, and schedules.
import { z } from 'zod'
import { HistoryEntry } from '../../api/deploy.ts'
import { LogEvents } from '../../api/feed.ts'
import { CreateJob, JobListQuery, JobLogQuery, JobParams, JobRun, JobsQuery } from '../../api/job.ts'
import { Schedule } from '../../api/schedule.ts'
import { ServiceParams } from '../../api/service.ts'
import * as jobs from '../handlers/jobs.ts'
import * as schedules from '../handlers/schedules.ts'
import { get, post, tagged } from '../pipeline/route.ts'
import { findJob, readJob, runAdvice } from '../records/deploy-record.ts'
import { historyRoute, show, whyRoute } from './record-routes.ts'

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
    handler: jobs.listAllJobs,
  }),
  get('/services/{id}/jobs', {
    role: 'read',
    scope: 'service',
    summary: 'Lists the job runs of a service, newest first; the newest 1000 are kept',
    params: ServiceParams,
    query: JobListQuery,
    response: z.array(JobRun),
    handler: jobs.listJobs,
  }),
  post('/services/{id}/jobs', {
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
  get('/services/{id}/schedule', {
    role: 'read',
    scope: 'service',
    summary: 'Returns the schedule of a cron job: its next runs, its last run, and why one was skipped',
    params: ServiceParams,
    response: Schedule,
    handler: schedules.getSchedule,
  }),
  get('/services/{id}/schedule/history', {
    role: 'read',
    scope: 'service',
    summary: 'Lists the transitions of a schedule: the first 10 and the last 500',
    params: ServiceParams,
    response: z.array(HistoryEntry),
    handler: schedules.scheduleHistory,
  }),
  get('/jobs/{job_id}', {
    role: 'read',
    scope: 'record',
    summary: 'Returns a job run',
    params: JobParams,
    response: JobRun,
    handler: show(readJob),
  }),
  post('/jobs/{job_id}/cancel', {
    role: 'deploy',
    scope: 'record',
    summary: 'Cancels a pending or running job run: SIGTERM, ten seconds, SIGKILL',
    params: JobParams,
    response: JobRun,
    problems: ['not_cancelable'],
    handler: jobs.cancelJob,
  }),
  get('/jobs/{job_id}/logs', {
    role: 'read',
    scope: 'record',
    summary: 'Streams the log of a job run: `log` for each line, `end` when the run has finished',
    params: JobParams,
    query: JobLogQuery,
    response: 'stream',
    events: LogEvents,
    handler: jobs.jobLogs,
  }),
  historyRoute('/jobs/{job_id}', {
    scope: 'record',
    params: JobParams,
    summary: 'Lists the transitions of a job run: the first 10 and the last 500',
    find: findJob,
  }),
  whyRoute('/jobs/{job_id}', {
    scope: 'record',
    params: JobParams,
    summary: 'Explains why a job run failed, and what to do about it',
    find: findJob,
    advise: (run, storage) => runAdvice(storage, run),
    hasLog: true,
  }),
])
