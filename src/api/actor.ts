// Actors run the work of the server. A parked actor waits for an administrator.
import { z } from 'zod'
import { bounded, flag, identifier, timestamp } from './parts/fields.ts'

/** Every kind; test/http/handlers/actors.test.ts compares them with the charts. */
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

export const ActorParams = z.object({ id: identifier.meta({ description: 'Id of the actor.' }) })
export type ActorParams = z.output<typeof ActorParams>

export const ActorsQuery = z.strictObject({
  parked: flag('Only parked actors.'),
  limit: bounded(500, 1, 5000, 'Maximum number of actors; parked ones come first.'),
})
export type ActorsQuery = z.output<typeof ActorsQuery>

const Parked = z
  .object({
    since: timestamp.nullable().meta({ description: 'Null if unknown.' }),
    code: z.enum(['failed_repeatedly', 'row_damaged', 'snapshot_misfit', 'ended_server']).meta({
      description:
        'failed_repeatedly: repeated internal errors. row_damaged: the stored row fails its ' +
        'checksum. snapshot_misfit: this version does not know the stored state. ended_server: what ' +
        'it read ended the server twice.',
    }),
    reason: z.string(),
    on_retry: z.string().meta({ description: 'What a retry does, as a sentence.' }),
    on_discard: z.string().meta({ description: 'What discarding does, as a sentence.' }),
  })
  .meta({ id: 'ParkedActor' })

export const Actor = z
  .object({
    id: z.string(),
    kind: z.string().meta({ description: `One of ${actorKinds.join(', ')}.` }),
    service_id: z.string().nullable().meta({ description: 'Id of its service or datastore.' }),
    status: z.string(),
    parked: Parked.nullable().meta({ description: 'Null unless the actor is parked.' }),
  })
  .meta({ id: 'Actor' })
export type Actor = z.output<typeof Actor>

export const DiscardedActor = z
  .object({
    ...Actor.shape,
    left_behind: z
      .array(z.object({ type: z.enum(['container', 'volume', 'image', 'file']), name: z.string() }))
      .meta({
        description: 'Objects that the actor created and that still exist. None of them was removed.',
      }),
  })
  .meta({ id: 'DiscardedActor' })
export type DiscardedActor = z.output<typeof DiscardedActor>
