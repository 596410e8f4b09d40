// The running instances of a service, as Docker reports them.
import { z } from 'zod'
import { bounded, flag, timestamp } from './parts/fields.ts'
import { serviceStates } from './service.ts'

const instanceRoles = ['starting', 'live', 'draining', 'removing'] as const

export type InstanceRole = (typeof instanceRoles)[number]

const bytes = z.int().nullable()

const milliseconds = z.number().nullable()

const Traffic = z
  .object({
    window_seconds: z.int(),
    requests: z.int(),
    errors: z.int().meta({ description: 'Responses with a status of 500 or more.' }),
    p50_ms: milliseconds,
    p95_ms: milliseconds,
    p99_ms: milliseconds,
  })
  .meta({ id: 'Traffic' })
export type Traffic = z.output<typeof Traffic>

export const AccessRecord = z
  .object({
    request_id: z.string().meta({ description: 'The `X-Request-Id` that the application received.' }),
    client: z.string().meta({ description: 'Address of the client.' }),
    method: z.string(),
    host: z.string(),
    path: z.string().meta({ description: 'Path without the query.' }),
    protocol: z.string().meta({ description: 'Such as `HTTP/1.1`.' }),
    tls: z.boolean(),
    status: z.int().meta({ description: '0 if the client disconnected before the response.' }),
    failure: z
      .enum(['no_connection', 'no_response', 'invalid_response', 'response_timeout'])
      .nullable()
      .meta({ description: 'Why the edge responded with 502, 503 or 504 in place of the application.' }),
    bytes_in: z.int(),
    bytes_out: z.int(),
    duration_ms: z.number(),
    user_agent: z.string().nullable(),
    deploy_id: z.string().nullable().meta({ description: 'The deploy that responded; null if none did.' }),
    instance: z.int().nullable().meta({ description: 'Index of the instance that responded, from 0.' }),
  })
  .meta({ id: 'AccessRecord', description: 'One request.' })
export type AccessRecord = z.output<typeof AccessRecord>

export const ServiceStatus = z
  .object({
    service_id: z.string(),
    state: z.enum(serviceStates),
    desired_instances: z.int(),
    reason: z.string().nullable().meta({ description: 'Why the service is degraded, as far as known.' }),
    traffic: Traffic.nullable().meta({
      description: 'For the last minutes; null for services that are not public, and without an edge.',
    }),
    instances: z.array(
      z.object({
        container_id: z.string(),
        name: z.string(),
        deploy_id: z.string(),
        role: z
          .enum(instanceRoles)
          .nullable()
          .meta({
            description:
              'starting: of a deploy that is not live yet; draining: of a previous deploy; removing: of a ' +
              'deploy that failed or was canceled; null: unknown.',
          }),
        state: z.string(),
        address: z.string().nullable().meta({ description: '`ip:port` on the private network.' }),
        started_at: timestamp.nullable(),
        restart_count: z.int(),
        cpu_percent: z.number().nullable(),
        memory_bytes: bytes,
        memory_limit_bytes: bytes,
        cpu_limit: z.number().nullable(),
        oom_killed: z.boolean(),
        health: z.enum(['starting', 'healthy', 'unhealthy']).nullable().meta({
          description: 'Result of the HEALTHCHECK of its image, as reported by Docker; null without one.',
        }),
        exit_code: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'ServiceStatus' })
export type ServiceStatus = z.output<typeof ServiceStatus>

export const ServiceLogQuery = z.strictObject({
  follow: flag('Follows the log.'),
  tail: bounded(100, 0, 10_000, 'Number of last lines to start with; Last-Event-ID takes precedence.'),
  access: flag('Returns requests instead of the output of the instances.'),
})
export type ServiceLogQuery = z.output<typeof ServiceLogQuery>
