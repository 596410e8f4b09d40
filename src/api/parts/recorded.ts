// Fields of every actor's record: its revision, and who requested it.
import { z } from 'zod'
import { text } from './fields.ts'

export const By = z
  .object({
    kind: z
      .enum(['session', 'token', 'terminal', 'schedule', 'push', 'server'])
      .describe(
        'session: a user in a browser. token: an API token. terminal: a token of `berth login`. ' +
          'schedule: a schedule. push: a push to a repository. server: the server itself.',
      ),
    id: text.describe('Id of the user or of the token.'),
    name: text.describe(
      'Name of the token at that time; for actions of the server, the reason. ' +
        'Tokens that are limited to services see only their own id and name.',
    ),
  })
  .meta({ id: 'By', description: 'Who caused it.' })
export type By = z.output<typeof By>

export const by = By.nullable().describe('Who requested it; null in records of older servers.')

export const recorded = {
  revision: z
    .int()
    .describe('Increases with each change of the record. A change in the feed has the same number.'),
  by,
}
