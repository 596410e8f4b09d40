// What runs of a service right now, as Docker tells it (decisions "Service").
import { z } from 'zod'
import { clamped, flag, timestamp } from './fields.ts'
import { serviceStates } from './service.ts'

const bytes = z.int().nullable()

export const ServiceStatus = z
  .object({
    service_id: z.string(),
    state: z.enum(serviceStates),
    desired_instances: z.int(),
    instances: z.array(
      z.object({
        container_id: z.string(),
        name: z.string(),
        deploy_id: z.string(),
        state: z.string(),
        address: z.string().nullable().meta({ description: '`ip:port` on the private network.' }),
        started_at: timestamp.nullable(),
        restart_count: z.int(),
        cpu_percent: z.number().nullable(),
        memory_bytes: bytes,
        memory_limit_bytes: bytes,
        cpu_limit: z.number().nullable(),
        oom_killed: z.boolean(),
        exit_code: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'ServiceStatus' })
export type ServiceStatus = z.output<typeof ServiceStatus>

export const ServiceLogQuery = z.strictObject({
  follow: flag('Go on with new lines.'),
  tail: clamped(100, 0, 10_000, 'How many of the last lines; with follow, of each instance that is there.'),
})
export type ServiceLogQuery = z.output<typeof ServiceLogQuery>
