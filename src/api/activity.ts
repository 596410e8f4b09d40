// The activity: the transitions of all actors, newest first.
import { z } from 'zod'
import { actorKinds, Transition } from './actor.ts'
import { identifier, numberBefore, pageLimit, text } from './parts/fields.ts'

export const ActivityQuery = z.strictObject({
  kind: z.enum(actorKinds).optional().describe('Only transitions of actors of this kind.'),
  service: identifier.optional().describe('Only those of this service or datastore: its id or name.'),
  limit: pageLimit(50),
  before: numberBefore('Only transitions with a lower number.'),
})
export type ActivityQuery = z.output<typeof ActivityQuery>

export const Activity = z
  .object({
    number: z.int().describe('Its number in the change feed.'),
    service_id: text.describe('Id of its service or datastore; null for actors of the server.'),
    service_name: text.describe('The name of its service or datastore at that time.'),
    ...Transition.shape,
  })
  .meta({ id: 'Activity', description: 'A transition of an actor, as the activity lists it.' })
export type Activity = z.output<typeof Activity>
