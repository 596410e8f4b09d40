// The job run in requests and responses. It must match the record that machines/job-run.ts produces.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import {
  createdAt,
  finishedAt,
  flag,
  id,
  identifier,
  logWindow,
  optional,
  pageFields,
  recorded,
  serviceId,
  startedAt,
  text,
  time,
  whole,
} from './parts/fields.ts'

/** Longer work should be a service. */
export const longestRunSeconds = 7 * 24 * 60 * 60

const jobStatuses = ['pending', 'running', 'succeeded', 'failed', 'canceled'] as const
const jobTriggers = ['manual', 'schedule'] as const

const timeoutSeconds = z.int().min(1).max(longestRunSeconds)

export const JobRun = z
  .object({
    id,
    service_id: serviceId,
    deploy_id: text.describe('The deploy whose image and env the run uses; null until it starts.'),
    command: text.describe("Command for sh -c; null for the image's own command."),
    image: z.string().describe('The image of the container.'),
    status: z
      .enum(jobStatuses)
      .describe(
        '`pending`: waiting for its turn. `running`: its container runs. `succeeded`: exit code 0. ' +
          '`failed`: another exit code, a timeout, or a failed start. `canceled`: on request.',
      ),
    trigger: z.enum(jobTriggers).describe('`manual`: a request. `schedule`: the schedule of a cron job.'),
    scheduled_for: time.describe('The scheduled time of the run.'),
    overlap: z
      .enum(['skip', 'queue', 'replace'])
      .nullable()
      .describe(
        'What happens when a run is due during another run: `skip` skips it, `queue` queues it, ' +
          "`replace` cancels the active run. null for a command other than the cron job's own.",
      ),
    timeout_seconds: z.int().describe('Seconds after which the run is stopped and fails.'),
    stdin: z
      .boolean()
      .optional()
      .describe('Whether a client sends its standard input. Missing for runs of older versions.'),
    input_ended_at: time
      .optional()
      .describe('When it had all of its input; null until then. Missing for runs of older versions.'),
    exit_code: whole.describe('The exit code of the command; null while it runs, and if it never started.'),
    ...failure,
    created_at: createdAt,
    started_at: startedAt,
    finished_at: finishedAt,
    deadline_at: time
      .optional()
      .describe(
        'When the command is stopped; null while it does not run. Missing for runs of older versions.',
      ),
    ...recorded,
  })
  .meta({ id: 'JobRun', description: 'One run of a command in its own container.' })
export type JobRun = z.output<typeof JobRun>

export const CreateJob = z
  .strictObject({
    command: optional(
      z
        .string()
        .max(4096)
        .regex(/^[^\0]*$/, { error: 'must not contain a NUL' }),
    ).describe('Command for sh -c in a new container. By default a cron job runs its own command.'),
    timeout_seconds: optional(timeoutSeconds).describe(
      'Seconds after which the run is stopped and fails. By default the limit of the service.',
    ),
    stdin: optional(z.boolean()).describe(
      'Whether the command waits for standard input, from a WebSocket to `/jobs/{job_id}/input` within 30 ' +
        'seconds of its turn. Needs a token that may do everything.',
    ),
  })
  .meta({ id: 'CreateJob', description: 'A new run.' })
export type CreateJob = z.output<typeof CreateJob>

export const JobParams = z
  .object({ job_id: identifier.describe('Id of the job run.') })
  .transform(({ job_id }) => ({ id: job_id }))

export const JobListQuery = z.strictObject(pageFields('job'))
export type JobListQuery = z.output<typeof JobListQuery>

export const JobsQuery = z.strictObject({
  ...pageFields('job'),
  service: identifier.optional().describe('Only runs of this service: its id or name.'),
  status: z.enum(jobStatuses).optional().describe('Only runs with this status.'),
  trigger: z.enum(jobTriggers).optional().describe('Only runs with this trigger.'),
})
export type JobsQuery = z.output<typeof JobsQuery>

export const JobLogQuery = z.strictObject({
  follow: flag('Follows the log until the run has finished.'),
  ...logWindow,
})
export type JobLogQuery = z.output<typeof JobLogQuery>
