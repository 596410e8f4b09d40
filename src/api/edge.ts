// The edge in the API: exactly the record of its chart, see machines/edge/edge.ts.
import { z } from 'zod'
import { timestamp } from './parts/fields.ts'
import { recorded } from './parts/recorded.ts'

const Software = z.object({ version: z.string().nullable(), image: z.string().nullable() })

export const EdgeUpgrade = z
  .strictObject({
    force: z
      .boolean()
      .default(false)
      .meta({ description: 'Replaces the edge even if no newer version is available.' }),
  })
  .meta({ id: 'EdgeUpgrade' })
export type EdgeUpgrade = z.output<typeof EdgeUpgrade>

export const Edge = z
  .object({
    id: z.string(),
    status: z.enum(['starting', 'serving', 'upgrading', 'waiting', 'stopping', 'off', 'failed']).meta({
      description:
        'waiting: it could not be started and is retried; the previous one may still serve. upgrading: a ' +
        'newer HAProxy takes over without interrupting requests. failed: it is parked after an internal ' +
        'error; see POST /edge/retry. The previous one may still serve.',
    }),
    mode: z.enum(['container', 'host', 'off']),
    http_port: z.int(),
    https_port: z.int(),
    routes: z
      .object({ services: z.int(), hosts: z.int(), ready: z.int() })
      .nullable()
      .meta({ description: 'Number of routes; ready: number of instances that receive requests.' }),
    error: z.string().nullable(),
    error_code: z.string().nullable(),
    version: z.string().nullable().meta({ description: 'Version of the running HAProxy.' }),
    image: z
      .string()
      .nullable()
      .meta({ description: 'Image of the running HAProxy; null with --edge host.' }),
    available: Software.nullable().meta({
      description: 'What an upgrade would start; null if that is already running.',
    }),
    upgrade_error: z.string().nullable().meta({ description: 'Why the last upgrade failed.' }),
    upgraded_at: timestamp.nullable(),
    serving_since: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp.nullable().meta({ description: 'Null before the first start.' }),
    ...recorded,
  })
  .meta({ id: 'Edge' })
export type Edge = z.output<typeof Edge>
