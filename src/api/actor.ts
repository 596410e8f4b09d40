// Actors run the work of the server. A parked actor waits for an administrator.
import { z } from 'zod'
import { bounded, by, flag, id, identifier, name, text, time, timestamp, whole } from './parts/fields.ts'

/** Every kind; test/http/routes/actors.test.ts compares them with the charts. */
export const actorKinds = [
  'backup',
  'certificate',
  'cron-schedule',
  'datastore',
  'deploy',
  'disk-chown',
  'disk-removal',
  'edge',
  'git-connection',
  'job-run',
  'restore',
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

export const ActorsQuery = z.strictObject({
  parked: flag('Only parked actors.'),
  limit: bounded(500, 1, 5000, 'Maximum number of actors; parked ones come first.'),
})
export type ActorsQuery = z.output<typeof ActorsQuery>

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
    kind: z.string().describe(`One of ${actorKinds.join(', ')}.`),
    service_id: text.describe('Id of its service or datastore.'),
    status: z.string().describe('The status of its record.'),
    parked: Parked.nullable().describe('Null unless the actor is parked.'),
  })
  .meta({
    id: 'Actor',
    description: 'The actor behind a deploy, a datastore, a certificate or another object.',
  })
export type Actor = z.output<typeof Actor>

export const DiscardedActor = z
  .object({
    ...Actor.shape,
    id,
    status: z.string().describe('`discarded`.'),
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
