// What every record of an actor has: its revision, and who asked for it.
import { z } from 'zod'

export const By = z
  .object({
    kind: z.enum(['session', 'token', 'terminal', 'schedule', 'push', 'server']).meta({
      description:
        'session: a person in a browser. token: an API token. terminal: a token of `berth login`. ' +
        'schedule: a schedule. push: a push to a repository. server: the server itself.',
    }),
    id: z.string().nullable().meta({ description: 'Id of the user of a session, or of the token.' }),
    name: z
      .string()
      .nullable()
      .meta({
        description:
          'Name that the token had then; of what the server does itself, the reason. ' +
          'A token that is limited to services sees its own id and name only.',
      }),
  })
  .meta({ id: 'By', description: 'Who caused it.' })
export type By = z.output<typeof By>

export const by = By.nullable().meta({ description: 'Who asked for it; null in records of older servers.' })

export const recorded = {
  revision: z.int().meta({
    description: 'Rises with each change of the record; a change in the feed has the same number.',
  }),
  by,
}
