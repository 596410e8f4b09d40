// Sessions of the dashboard.
import { z } from 'zod'
import { identifier, timestamp } from '../parts/fields.ts'

export const SessionParams = z.object({ id: identifier.meta({ description: 'Id of the session.' }) })
export type SessionParams = z.output<typeof SessionParams>

export const Session = z
  .object({
    id: z.string(),
    created_at: timestamp,
    expires_at: timestamp.meta({ description: '30 days after its last use.' }),
    last_used_at: timestamp.meta({ description: 'Accurate to the minute.' }),
    user_agent: z.string().nullable(),
    current: z.boolean().meta({ description: 'Whether this request uses the session.' }),
  })
  .meta({ id: 'Session' })
export type Session = z.output<typeof Session>
