// Actors run the work of the server. A parked actor waits for an administrator.
import { z } from 'zod'
import {
  by,
  flag,
  id,
  identifier,
  name,
  numberBefore,
  pageLimit,
  text,
  time,
  timestamp,
  whole,
} from './parts/fields.ts'

/** Every kind; test/http/routes/actors.test.ts compares them with the charts. */
export const actorKinds = [
  'alert',
  'auto-deploy',
  'backup',
  'certificate',
  'commit-status',
  'cron-schedule',
  'datastore',
  'deploy',
  'disk-chown',
  'disk-removal',
  'edge',
  'git-connection',
  'job-run',
  'notification',
  'restore',
  'server-backup',
  'service-removal',
  'terminal-login',
] as const

export const HistoryEntry = z
  .object({
    at: timestamp.describe('When the transition was stored.'),
    event: z.string().describe('The event that caused it.'),
    state: z
      .string()
      .describe(
        'The state of the chart after the transition: nested states are separated by dots, regions by ' +
          'spaces. In entries of older servers a region may lack the states around it.',
      ),
    status: z.string().describe('The status of the record after the transition.'),
    phase: text.describe('The phase of the record after the transition; null without one.'),
    by: by.describe('Who requested it; null for events of effects.'),
    revision: z.int().describe('The revision of the record after the transition.'),
    boot: whole.describe(
      'The start of the server that stored it, as a number: where it differs between two entries, the ' +
        'server was restarted. Null in entries of older servers.',
    ),
  })
  .meta({ id: 'HistoryEntry', description: 'One transition of a chart.' })
export type HistoryEntry = z.output<typeof HistoryEntry>

export const Transition = z
  .object({
    actor_id: z.string().describe('The id of the actor.'),
    kind: z.enum(actorKinds).describe('The kind of the actor, and the name of its chart.'),
    ...HistoryEntry.shape,
  })
  .meta({ id: 'Transition', description: 'One transition of an actor.' })
export type Transition = z.output<typeof Transition>

export const ActorParams = z.object({ id: identifier.describe('Id of the actor.') })

/** In the order of lists. */
export const actorGroups = ['parked', 'active', 'ended'] as const

const place = z
  .string()
  .regex(/^(parked|active|ended)\.[a-z-]{1,40}\.[\w-]{1,128}$/, {
    error: 'must be the place from a `Link` header',
  })
  .transform((text) => {
    const [group, kind, id] = text.split('.') as [(typeof actorGroups)[number], string, string]
    return { group, kind, id }
  })

export const ActorsQuery = z.strictObject({
  kind: z.enum(actorKinds).optional().describe('Only actors of this kind.'),
  status: z.string().max(40).optional().describe('Only actors whose record has this status.'),
  service: identifier.optional().describe('Only actors of this service or datastore: its id or name.'),
  parked: flag('Only parked actors.'),
  active: flag('Only actors that have not ended. Default true; `false` also lists ended ones.', true),
  limit: pageLimit(100),
  before: place.optional().describe('The place after which the page begins, from the `Link` header.'),
})
export type ActorsQuery = z.output<typeof ActorsQuery>

export const ActorHistoryQuery = z.strictObject({
  limit: pageLimit(500),
  before: numberBefore('Only entries with a lower revision.'),
})
export type ActorHistoryQuery = z.output<typeof ActorHistoryQuery>

const Parked = z
  .object({
    since: time.describe('Null if unknown.'),
    code: z
      .enum(['failed_repeatedly', 'row_damaged', 'snapshot_misfit', 'ended_server'])
      .describe(
        'failed_repeatedly: repeated internal errors. row_damaged: the stored row fails its ' +
          'checksum. snapshot_misfit: this version does not know the stored state. ended_server: what ' +
          'it read ended the server twice.',
      ),
    reason: z.string().describe('The error, as a sentence.'),
    on_retry: z.string().describe('What a retry does, as a sentence.'),
    on_discard: z.string().describe('What discarding does, as a sentence.'),
  })
  .meta({
    id: 'ParkedActor',
    description: 'An actor that was stopped by an internal error and waits for an administrator.',
  })

export const Actor = z
  .object({
    id: z.string().describe('The id of the actor: the id of its record, or `edge`.'),
    kind: z.string().describe(`The name of its chart. One of ${actorKinds.join(', ')}.`),
    service_id: text.describe('Id of its service or datastore; of its channel for a notification.'),
    service_name: text.describe('Name of its service, datastore or channel; null if that is gone.'),
    status: z.string().describe('The status of its record.'),
    state: text.describe(
      'The state of its chart, as in its history; of a parked actor the one in which it was parked.',
    ),
    revision: z.int().describe('The revision of its record.'),
    restarts: whole.describe('How often it was restarted after internal errors; null if unknown.'),
    version: whole.describe('The version of the chart that stored it; null if unknown.'),
    current_version: whole.describe('The version of the chart in this server; null if it has none.'),
    since: time.describe('When its newest transition was stored.'),
    next_at: time.describe('When it next does something on its own: a retry, a renewal, a run, a backup.'),
    parked: Parked.nullable().describe('Null unless the actor is parked.'),
    accepts: z
      .array(z.string())
      .describe(
        'Types of the events that its state handles, some of them on a condition; none once it ended.',
      ),
  })
  .meta({
    id: 'Actor',
    description: 'The actor behind a deploy, a datastore, a certificate or another object.',
  })
export type Actor = z.output<typeof Actor>

export const DiscardedActor = z
  .object({
    id,
    kind: Actor.shape.kind,
    service_id: Actor.shape.service_id,
    status: z.string().describe('`discarded`.'),
    parked: z.null().describe('Always null.'),
    left_behind: z
      .array(
        z.object({
          type: z.enum(['container', 'volume', 'image', 'file']).describe('The kind of object.'),
          name,
        }),
      )
      .describe('Objects that the actor created and that still exist. None of them was removed.'),
  })
  .meta({ id: 'DiscardedActor', description: 'A parked actor that was discarded.' })
export type DiscardedActor = z.output<typeof DiscardedActor>
