// The edge as the API shows it: the record of its chart, word for word; machines/edge/edge.ts makes it.
import { z } from 'zod'
import { timestamp } from './parts/fields.ts'
import { recorded } from './parts/recorded.ts'

const Software = z.object({ version: z.string().nullable(), image: z.string().nullable() })

export const EdgeUpgrade = z
  .strictObject({
    force: z
      .boolean()
      .default(false)
      .meta({ description: 'Replaces the edge even where nothing newer is available.' }),
  })
  .meta({ id: 'EdgeUpgrade' })
export type EdgeUpgrade = z.output<typeof EdgeUpgrade>

export const Edge = z
  .object({
    id: z.string(),
    status: z.enum(['starting', 'serving', 'upgrading', 'waiting', 'stopping', 'off', 'failed']).meta({
      description:
        'waiting: it could not be started and is tried again; a former one may still serve. ' +
        'upgrading: a newer HAProxy takes over; requests are served without interruption. ' +
        'failed: it is parked after an error of the server; POST /edge/retry. A former one may still serve.',
    }),
    mode: z.enum(['container', 'host', 'off']),
    http_port: z.int(),
    https_port: z.int(),
    routes: z
      .object({ services: z.int(), hosts: z.int(), ready: z.int() })
      .nullable()
      .meta({ description: 'What it serves; ready: how many instances get requests.' }),
    error: z.string().nullable(),
    error_code: z.string().nullable(),
    version: z.string().nullable().meta({ description: 'Version of the HAProxy that runs.' }),
    image: z.string().nullable().meta({ description: 'The image that it runs from; null with --edge host.' }),
    available: Software.nullable().meta({
      description: 'What an upgrade would start; null when that is what runs.',
    }),
    upgrade_error: z.string().nullable().meta({ description: 'Why the last upgrade failed.' }),
    upgraded_at: timestamp.nullable(),
    serving_since: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp.nullable().meta({ description: 'Null where there never was one.' }),
    ...recorded,
  })
  .meta({ id: 'Edge' })
export type Edge = z.output<typeof Edge>
