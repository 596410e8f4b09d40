// The edge in the API: exactly the record of its chart, see machines/edge.ts.
import { z } from 'zod'
import { id, nextAttemptAt, recorded, text, time } from './parts/fields.ts'

const Software = z.object({
  version: text.describe('The version of HAProxy in the image.'),
  image: text.describe('The image.'),
})

export const EdgeUpgrade = z
  .strictObject({
    force: z.boolean().default(false).describe('Replaces the edge even if no newer version is available.'),
  })
  .meta({ id: 'EdgeUpgrade', description: 'An upgrade of the edge.' })
export type EdgeUpgrade = z.output<typeof EdgeUpgrade>

export const Edge = z
  .object({
    id,
    status: z
      .enum(['starting', 'serving', 'upgrading', 'waiting', 'stopping', 'off', 'failed'])
      .describe(
        'waiting: it could not be started and is retried; the previous one may still serve. upgrading: a ' +
          'newer HAProxy takes over without interrupting requests. failed: it is parked after an internal ' +
          'error; see POST /edge/retry. The previous one may still serve.',
      ),
    mode: z
      .enum(['container', 'host', 'off'])
      .describe('How HAProxy runs: in a container, as a process of the host, or not at all.'),
    http_port: z.int().describe('The port for http.'),
    https_port: z.int().describe('The port for https.'),
    routes: z
      .object({
        services: z.int().describe('Public services.'),
        hosts: z.int().describe('Hosts of public services.'),
        ready: z.int().describe('Instances that receive requests.'),
      })
      .nullable()
      .describe('Number of routes; ready: number of instances that receive requests.'),
    error: text.describe(
      'Why the edge could not be started or, while it serves, why requests may not reach it.',
    ),
    error_code: text.describe(
      'port_shared: another program responds on a public port. port_unreachable: a public port does ' +
        'not respond. Any other code: the edge could not be started.',
    ),
    version: text.describe('Version of the running HAProxy.'),
    image: text.describe('Image of the running HAProxy; null with --edge host.'),
    available: Software.nullable().describe('What an upgrade would start; null if that is already running.'),
    upgrade_error: text.describe('Why the last upgrade failed.'),
    upgraded_at: time.describe('When it was last upgraded.'),
    serving_since: time.describe('When the running HAProxy started.'),
    next_attempt_at: nextAttemptAt,
    created_at: time.describe('Null before the first start.'),
    ...recorded,
  })
  .meta({ id: 'Edge', description: 'The reverse proxy in front of public services.' })
export type Edge = z.output<typeof Edge>
