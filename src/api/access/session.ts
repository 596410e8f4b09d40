// Sessions: browsers that are signed in.
import { z } from 'zod'
import { id, identifier, text, timestamp } from '../parts/fields.ts'

export const SessionParams = z.object({ id: identifier.describe('Id of the session.') })

export const Session = z
  .object({
    id,
    created_at: timestamp.describe('When the browser signed in.'),
    expires_at: timestamp.describe('30 days after its last use.'),
    last_used_at: timestamp.describe('Accurate to the minute.'),
    user_agent: text.describe('The User-Agent of the browser.'),
    current: z.boolean().describe('Whether this request uses the session.'),
  })
  .meta({ id: 'Session', description: 'A signed-in browser.' })
export type Session = z.output<typeof Session>
