// The job run in requests and responses. It must match the record that
// machines/job-run/job-run-record.ts produces.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { flag, identifier, optional, pageFields, timestamp } from './parts/fields.ts'
import { recorded } from './parts/recorded.ts'

const text = z.string().nullable()

/** Longer work should be a service. */
export const longestRunSeconds = 7 * 24 * 60 * 60

const jobStatuses = ['pending', 'running', 'succeeded', 'failed', 'canceled'] as const
const jobTriggers = ['manual', 'schedule'] as const

const timeoutSeconds = z.int().min(1).max(longestRunSeconds)

export const JobRun = z
  .object({
    id: z.string(),
    service_id: z.string(),
    deploy_id: text.meta({
      description: 'The deploy whose image and env the run uses; null until it starts.',
    }),
    command: text.meta({ description: "Command for sh -c; null for the image's own command." }),
    image: z.string(),
    status: z.enum(jobStatuses),
    trigger: z.enum(jobTriggers),
    scheduled_for: timestamp.nullable().meta({ description: 'The scheduled time of the run.' }),
    overlap: z.enum(['skip', 'queue', 'replace']).nullable(),
    timeout_seconds: z.int(),
    exit_code: z.int().nullable(),
    ...failure,
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    ...recorded,
  })
  .meta({ id: 'JobRun' })
export type JobRun = z.output<typeof JobRun>

export const CreateJob = z
  .strictObject({
    command: optional(
      z
        .string()
        .max(4096)
        .regex(/^[^\0]*$/, { error: 'must not contain a NUL' }),
    ).meta({
      description: 'Command for sh -c in a new container. By default a cron job runs its own command.',
    }),
    timeout_seconds: optional(timeoutSeconds).meta({
      description: 'Seconds after which the run is stopped and fails. By default the limit of the service.',
    }),
  })
  .meta({ id: 'CreateJob' })
export type CreateJob = z.output<typeof CreateJob>

export const JobParams = z
  .object({ job_id: identifier.meta({ description: 'Id of the job run.' }) })
  .transform(({ job_id }) => ({ id: job_id }))
export type JobParams = z.output<typeof JobParams>

export const JobListQuery = z.strictObject(pageFields('job'))
export type JobListQuery = z.output<typeof JobListQuery>

export const JobsQuery = z.strictObject({
  ...pageFields('job'),
  service: identifier.optional().meta({ description: 'Only runs of this service: its id or name.' }),
  status: z.enum(jobStatuses).optional().meta({ description: 'Only runs with this status.' }),
  trigger: z.enum(jobTriggers).optional().meta({ description: 'Only runs with this trigger.' }),
})
export type JobsQuery = z.output<typeof JobsQuery>

export const JobLogQuery = z.strictObject({
  follow: flag('Follows the log until the run has finished.'),
})
export type JobLogQuery = z.output<typeof JobLogQuery>
