// The events of the event streams: the change feed and the log lines.
import { z } from 'zod'
import { actorKinds } from './actor.ts'
import { timestamp } from './parts/fields.ts'
import { AccessRecord } from './status.ts'

/** These actors appear as the resource that they change: a service, a schedule, a disk. */
const hiddenKinds = ['service-removal', 'cron-schedule', 'disk-chown', 'disk-removal'] as const
const shownKinds = actorKinds.filter((kind) => !hiddenKinds.some((hidden) => hidden === kind)) as Exclude<
  (typeof actorKinds)[number],
  (typeof hiddenKinds)[number]
>[]

export const feedKinds = [
  ...shownKinds,
  'account',
  'disk',
  'env',
  'instance',
  'registry',
  'schedule',
  'service',
  'session',
  'token',
] as const

export const FeedChange = z
  .object({
    kind: z.enum(feedKinds).meta({
      description:
        'What changed. `env` and `schedule` have the id of their service. `instance` is shown in the ' +
        'status of its service. `disk` is listed by GET /disks or GET /trash.',
    }),
    id: z.string().meta({
      description: 'Id in the API. For a registry it is the host, for a disk and an instance the name.',
    }),
    service_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of its service or datastore; null for objects of the server.' }),
    status: z
      .string()
      .nullable()
      .meta({
        description:
          'State or status of the record, or `deleted`; null for objects without one. For a disk ' +
          '`attached`, `kept`, `trashed`, `deleting`, `deleted` or `failed`.',
      }),
    revision: z.int().nullable().meta({
      description:
        'Revision of the record; null for objects without one. Older changes have lower revisions.',
    }),
  })
  .meta({
    id: 'FeedChange',
    description: 'Reports that something changed. Read the record for its current state.',
  })
export type FeedChange = z.output<typeof FeedChange>

const id = z.string().regex(/^\d+$/)

const nothing = z.object({})

export const FeedEvents = z
  .discriminatedUnion('event', [
    z.object({ event: z.literal('ready'), id, data: nothing }),
    z.object({ event: z.literal('change'), id, data: FeedChange }),
    z.object({ event: z.literal('reset'), id, data: nothing }),
  ])
  .meta({
    id: 'FeedEvent',
    description:
      '`ready` comes first. `reset` means that `Last-Event-ID` is too old or unknown: read everything again.',
  })

const logStreams = ['stdout', 'stderr', 'system'] as const

const line = {
  ts: timestamp.meta({ description: 'When the line was written.' }),
  stream: z.enum(logStreams).meta({ description: '`system` marks lines of the server itself.' }),
  line: z.string(),
}

const ActorLine = z
  .object({
    ...line,
    step: z
      .object({
        number: z.int().meta({ description: 'From 1.' }),
        state: z
          .enum(['started', 'cached', 'done', 'failed', 'canceled'])
          .optional()
          .meta({ description: 'The outcome of the step; missing on lines of its output.' }),
        name: z.string().optional().meta({ description: 'With `started`.' }),
      })
      .optional()
      .meta({
        description: 'Step of the build that the line belongs to; `state` is present when it changed.',
      }),
    brief: z
      .string()
      .optional()
      .meta({ description: 'A short form of the line, for display after the name of the phase.' }),
    mark: z.enum(['running', 'outcome']).optional().meta({
      description: '`running`: the command of a job run starts. `outcome`: the last line.',
    }),
  })
  .meta({ id: 'LogLine', description: 'A line in the log of a deploy or a job run.' })

/** The end of a log has no id, and no data. */
const end = z.object({ event: z.literal('end'), data: z.literal('') })

export const LogEvents = z
  .discriminatedUnion('event', [z.object({ event: z.literal('log'), id, data: ActorLine }), end])
  .meta({ id: 'LogEvent', description: '`end` follows the last line.' })

const InstanceEvent = z
  .object({
    type: z
      .enum(['started', 'exited', 'stopped', 'removed'])
      .meta({ description: '`stopped` by the server; `exited` on its own; `removed` from Docker.' }),
    exit_code: z.int().nullable(),
    out_of_memory: z
      .boolean()
      .meta({ description: 'The main process was killed because of its memory limit.' }),
    restarts: z.boolean().meta({ description: 'The server restarts the instance.' }),
    restarts_in_ms: z.int().nullable().meta({ description: 'Null if the delay is unknown.' }),
  })
  .meta({ id: 'InstanceEvent', description: 'What happened to an instance.' })

const RuntimeLine = z
  .object({
    ...line,
    instance: z.string().optional().meta({ description: 'Index of the instance, from 0.' }),
    deploy_id: z.string().optional().meta({ description: 'Deploy of the instance.' }),
    event: InstanceEvent.optional(),
  })
  .meta({ id: 'RuntimeLogLine', description: 'A line of an instance, or about it.' })

const AccessLine = z
  .object({ ...line, stream: z.literal('access'), access: AccessRecord.optional() })
  .meta({ id: 'AccessLogLine', description: 'A request to the service.' })

export const ServiceLogEvents = z
  .union([z.object({ event: z.literal('log'), id, data: z.union([RuntimeLine, AccessLine]) }), end])
  .meta({ id: 'ServiceLogEvent', description: 'With `access`, each line is a request.' })
