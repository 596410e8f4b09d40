// The events of the event streams: the change feed and the log lines.
import { z } from 'zod'
import { actorKinds, Transition } from './actor.ts'
import { text, timestamp, whole } from './parts/fields.ts'
import { AccessRecord } from './status.ts'

/** These actors appear as the resource that they change: a service, a schedule, a disk. */
const hiddenKinds = [
  'auto-deploy',
  'commit-status',
  'service-removal',
  'cron-schedule',
  'disk-chown',
  'disk-removal',
] as const
const shownKinds = actorKinds.filter((kind) => !hiddenKinds.some((hidden) => hidden === kind)) as Exclude<
  (typeof actorKinds)[number],
  (typeof hiddenKinds)[number]
>[]

const feedKinds = [
  ...shownKinds,
  'account',
  'backup-place',
  'disk',
  'env',
  'instance',
  'notification-channel',
  'registry',
  'schedule',
  'service',
  'session',
  'token',
] as const

export const FeedChange = z
  .object({
    kind: z
      .enum(feedKinds)
      .describe(
        'What changed. `env` and `schedule` have the id of their service. `instance` is shown in the ' +
          'status of its service. `disk` is listed by GET /disks or GET /trash.',
      ),
    id: z
      .string()
      .describe('Id in the API. For a registry it is the host, for a disk and an instance the name.'),
    service_id: text.describe('Id of its service or datastore; null for objects of the server.'),
    status: text.describe(
      'State or status of the record, or `deleted`; null for objects without one. For a disk ' +
        '`attached`, `kept`, `trashed`, `deleting`, `deleted` or `failed`.',
    ),
    revision: whole.describe(
      'Revision of the record; null for objects without one. Older changes have lower revisions.',
    ),
    transition: Transition.nullable().describe(
      'The transition that caused the change; null if it was none of an actor. Also for actors that ' +
        'appear as another resource, such as the removal of a service.',
    ),
  })
  .meta({
    id: 'FeedChange',
    description: 'Reports that something changed. Read the record for its current contents.',
  })
export type FeedChange = z.output<typeof FeedChange>

const number = z.string().regex(/^\d+$/)
const id = number.describe('The id, for `Last-Event-ID`.')
const lineNumber = number.describe('The number of the line, for `Last-Event-ID`.')

function named<Name extends string>(name: Name) {
  return z.literal(name).describe('Name of the event.')
}

function payload<Data extends z.ZodType>(data: Data) {
  return data.describe('Payload of the event.')
}

const FeedReady = z
  .object({
    version: z.string().describe('The version of the server.'),
    build: text.describe('Identity of the dashboard: after an upgrade it differs. Null if it was not built.'),
    now: timestamp.describe("The server's time."),
  })
  .meta({ id: 'FeedReady', description: 'What the server is.' })
export type FeedReady = z.output<typeof FeedReady>

export const FeedEvents = z
  .discriminatedUnion('event', [
    z.object({ event: named('ready'), id, data: payload(FeedReady) }),
    z.object({ event: named('change'), id, data: payload(FeedChange) }),
    z.object({ event: named('reset'), id, data: payload(z.object({})) }),
  ])
  .meta({
    id: 'FeedEvent',
    description:
      '`ready` comes first. `reset` means that `Last-Event-ID` is too old or unknown: read everything again.',
  })

const logStreams = ['stdout', 'stderr', 'system'] as const

const line = {
  ts: timestamp.describe('When the line was written.'),
  stream: z.enum(logStreams).describe('`system` marks lines of the server itself.'),
  line: z.string().describe('Text of the line.'),
}

const ActorLine = z
  .object({
    ...line,
    step: z
      .object({
        number: z.int().describe('From 1.'),
        state: z
          .enum(['started', 'cached', 'done', 'failed', 'canceled'])
          .optional()
          .describe('The outcome of the step; missing on lines of its output.'),
        name: z.string().optional().describe('With `started`.'),
      })
      .optional()
      .describe('Step of the build that the line belongs to; `state` is present when it changed.'),
    brief: z
      .string()
      .optional()
      .describe('A short form of the line, for display after the name of the phase.'),
    mark: z
      .enum(['running', 'outcome'])
      .optional()
      .describe('`running`: the command of a job run starts. `outcome`: the last line.'),
  })
  .meta({ id: 'LogLine', description: 'A line in the log of a deploy or a job run.' })

/** The end of a log has no id, and no data. */
const end = z.object({ event: named('end'), data: payload(z.literal('')) })

export const LogEvents = z
  .discriminatedUnion('event', [
    z.object({ event: named('log'), id: lineNumber, data: payload(ActorLine) }),
    end,
  ])
  .meta({ id: 'LogEvent', description: '`end` follows the last line.' })

const InstanceEvent = z
  .object({
    type: z
      .enum(['started', 'exited', 'stopped', 'removed'])
      .describe('`stopped` by the server; `exited` on its own; `removed` from Docker.'),
    exit_code: whole.describe('Null if unknown.'),
    out_of_memory: z.boolean().describe('The main process was killed because of its memory limit.'),
    restarts: z.boolean().describe('The server restarts the instance.'),
    restarts_in_ms: whole.describe('Null if the delay is unknown.'),
  })
  .meta({ id: 'InstanceEvent', description: 'What happened to an instance.' })

const RuntimeLine = z
  .object({
    ...line,
    instance: z.string().optional().describe('Index of the instance, from 0.'),
    deploy_id: z.string().optional().describe('Deploy of the instance.'),
    event: InstanceEvent.optional().describe('The event, on a `system` line about an instance.'),
  })
  .meta({ id: 'RuntimeLogLine', description: 'A line of an instance, or about it.' })

const AccessLine = z
  .object({
    ...line,
    stream: z.literal('access').describe('Always `access`.'),
    access: AccessRecord.optional().describe('The request; missing on a line about other lines.'),
  })
  .meta({ id: 'AccessLogLine', description: 'A request to the service.' })

export const ServiceLogEvents = z
  .union([
    z.object({ event: named('log'), id: lineNumber, data: payload(z.union([RuntimeLine, AccessLine])) }),
    end,
  ])
  .meta({ id: 'ServiceLogEvent', description: 'With `access`, each line is a request.' })
