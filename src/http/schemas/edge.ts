// The edge as the API shows it: the record of its chart, word for word; machines/edge.ts makes it.
import { z } from 'zod'
import { timestamp } from './fields.ts'

export const Edge = z
  .object({
    id: z.string(),
    status: z.enum(['starting', 'serving', 'waiting', 'stopping', 'off']).meta({
      description:
        'waiting: it could not be started and is tried again; what was served before may still be.',
    }),
    mode: z.enum(['container', 'host', 'off']),
    http_port: z.int(),
    https_port: z.int(),
    routes: z
      .object({ services: z.int(), hosts: z.int(), ready: z.int() })
      .nullable()
      .meta({ description: 'What it serves; ready: how many instances get requests.' }),
    error: z.string().nullable(),
    serving_since: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp.nullable().meta({ description: 'Null where there never was one.' }),
  })
  .meta({ id: 'Edge' })
export type Edge = z.output<typeof Edge>
