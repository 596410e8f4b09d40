// The running instances of a service, as Docker reports them.
import { z } from 'zod'
import { bounded, flag, serviceId, text, time, whole } from './parts/fields.ts'
import { serviceState } from './service.ts'

const instanceRoles = ['starting', 'live', 'draining', 'removing'] as const

export type InstanceRole = (typeof instanceRoles)[number]

const milliseconds = z.number().nullable()

const Traffic = z
  .object({
    window_seconds: z.int().describe('The period, in seconds.'),
    requests: z.int().describe('The number of requests.'),
    errors: z.int().describe('Responses with a status of 500 or more.'),
    p50_ms: milliseconds.describe('Median response time.'),
    p95_ms: milliseconds.describe('95th percentile of the response time.'),
    p99_ms: milliseconds.describe('99th percentile of the response time.'),
  })
  .meta({ id: 'Traffic', description: 'The requests of the last minutes.' })
export type Traffic = z.output<typeof Traffic>

export const AccessRecord = z
  .object({
    request_id: z.string().describe('The `X-Request-Id` that the application received.'),
    client: z.string().describe('Address of the client.'),
    method: z.string().describe('Method of the request.'),
    host: z.string().describe('The host.'),
    path: z.string().describe('Path without the query.'),
    protocol: z.string().describe('Such as `HTTP/1.1`.'),
    tls: z.boolean().describe('Whether the request came over https.'),
    status: z.int().describe('0 if the client disconnected before the response.'),
    failure: z
      .enum(['no_connection', 'no_response', 'invalid_response', 'response_timeout'])
      .nullable()
      .describe('Why the edge responded with 502, 503 or 504 in place of the application.'),
    bytes_in: z.int().describe('Bytes received from the client.'),
    bytes_out: z.int().describe('Bytes sent to the client.'),
    duration_ms: z.number().describe('From the first byte of the request to the last byte of the response.'),
    user_agent: text.describe('Null if the client sent none.'),
    deploy_id: text.describe('The deploy that responded; null if none did.'),
    instance: whole.describe('Index of the instance that responded, from 0.'),
  })
  .meta({ id: 'AccessRecord', description: 'One request.' })
export type AccessRecord = z.output<typeof AccessRecord>

export const ServiceStatus = z
  .object({
    service_id: serviceId,
    state: serviceState,
    desired_instances: z.int().describe('The desired number of instances.'),
    reason: text.describe('Why the service is degraded, as far as known.'),
    traffic: Traffic.nullable().describe(
      'For the last minutes; null for services that are not public, and without an edge.',
    ),
    instances: z
      .array(
        z.object({
          container_id: z.string().describe('The id of the container.'),
          name: z.string().describe('The name of the container.'),
          deploy_id: z.string().describe('The deploy of the instance.'),
          role: z
            .enum(instanceRoles)
            .nullable()
            .describe(
              'starting: of a deploy that is not live yet; draining: of a previous deploy; removing: of a ' +
                'deploy that failed or was canceled; null: unknown.',
            ),
          state: z.string().describe("Docker's word: running, exited, restarting, …"),
          address: text.describe('`ip:port` on the private network.'),
          started_at: time.describe('When its process started; null if it never did.'),
          restart_count: z.int().describe('The number of restarts after its process ended.'),
          cpu_percent: z.number().nullable().describe('Current usage of one CPU; null if unknown.'),
          memory_bytes: whole.describe('Current memory usage; null if unknown.'),
          memory_limit_bytes: whole.describe('The memory limit; null without a limit.'),
          cpu_limit: z.number().nullable().describe('The CPU limit; null without a limit.'),
          oom_killed: z.boolean().describe('Whether it last ended because of its memory limit.'),
          health: z
            .enum(['starting', 'healthy', 'unhealthy'])
            .nullable()
            .describe('Result of the HEALTHCHECK of its image, as reported by Docker; null without one.'),
          exit_code: whole.describe('The exit code of its last process; null while it runs.'),
        }),
      )
      .describe('The containers of the service, including those that start, drain or are being removed.'),
  })
  .meta({ id: 'ServiceStatus', description: 'The current instances of a service, as Docker reports them.' })
export type ServiceStatus = z.output<typeof ServiceStatus>

export const ServiceLogQuery = z.strictObject({
  follow: flag('Follows the log.'),
  tail: bounded(100, 0, 10_000, 'Number of last lines to start with; Last-Event-ID takes precedence.'),
  access: flag('Returns requests instead of the output of the instances.'),
})
export type ServiceLogQuery = z.output<typeof ServiceLogQuery>
