// Terminal logins in requests and responses.
import { z } from 'zod'
import { identifier, optional, timestamp } from '../parts/fields.ts'
import { typed } from './account.ts'
import { grantFields, tokenName } from './token.ts'

export const TerminalLoginParams = z.object({
  id: identifier.meta({ description: 'Id of the terminal login.' }),
})
export type TerminalLoginParams = z.output<typeof TerminalLoginParams>

export const StartTerminalLogin = z
  .strictObject({
    name: optional(tokenName).meta({
      description: 'Name of the new token; a generic name by default.',
    }),
    start_code: optional(z.string().max(100)).meta({
      description:
        'The start code that the account page shows. The request is then accepted even when others have ' +
        'used up the rate of such requests. It grants nothing else.',
    }),
  })
  .meta({ id: 'StartTerminalLogin' })
export type StartTerminalLogin = z.output<typeof StartTerminalLogin>

export const StartedTerminalLogin = z
  .object({
    id: z.string(),
    code: z.string().meta({ description: 'Shown by the terminal, for the administrator to compare.' }),
    secret: z.string().meta({ description: 'Kept by the terminal, which polls with it.' }),
    expires_in: z.int().meta({ description: 'Seconds.' }),
    interval: z.int().meta({ description: 'Seconds between polls.' }),
  })
  .meta({ id: 'StartedTerminalLogin' })
export type StartedTerminalLogin = z.output<typeof StartedTerminalLogin>

export const TerminalLogin = z
  .object({
    id: z.string(),
    code: z.string(),
    name: z.string(),
    address: z.string().meta({ description: 'Address of the terminal.' }),
    status: z.enum(['pending', 'approved', 'denied']),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'TerminalLogin', description: 'The login request, as the approval page shows it.' })
export type TerminalLogin = z.output<typeof TerminalLogin>

export const ApproveTerminalLogin = z
  .strictObject({
    ...grantFields,
    password: optional(typed).meta({
      description: 'Password of the account; required if the session is older than 10 minutes.',
    }),
  })
  .meta({ id: 'ApproveTerminalLogin' })
export type ApproveTerminalLogin = z.output<typeof ApproveTerminalLogin>

export const PollTerminalLogin = z
  .strictObject({ secret: z.string().max(200) })
  .meta({ id: 'PollTerminalLogin' })
export type PollTerminalLogin = z.output<typeof PollTerminalLogin>

export const PolledTerminalLogin = z
  .object({
    status: z.enum(['pending', 'approved', 'denied']),
    token: z.string().optional().meta({ description: 'With `approved`, once.' }),
  })
  .meta({ id: 'PolledTerminalLogin' })
export type PolledTerminalLogin = z.output<typeof PolledTerminalLogin>
