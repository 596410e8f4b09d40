// Terminal logins in requests and responses.
import { z } from 'zod'
import { identifier, optional, timestamp } from '../parts/fields.ts'
import { typed } from './account.ts'
import { grantFields, tokenName } from './token.ts'

export const TerminalLoginParams = z.object({
  id: identifier.meta({ description: 'Id of a terminal login.' }),
})
export type TerminalLoginParams = z.output<typeof TerminalLoginParams>

export const StartTerminalLogin = z
  .strictObject({
    name: optional(tokenName).meta({
      description: 'The name that the token gets; without it a general one.',
    }),
  })
  .meta({ id: 'StartTerminalLogin' })
export type StartTerminalLogin = z.output<typeof StartTerminalLogin>

export const StartedTerminalLogin = z
  .object({
    id: z.string(),
    code: z.string().meta({ description: 'For the terminal to show, and the administrator to compare.' }),
    secret: z.string().meta({ description: 'For the terminal to keep, and to poll with.' }),
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
    address: z.string().meta({ description: 'The address of the terminal.' }),
    status: z.enum(['pending', 'approved', 'denied']),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'TerminalLogin', description: 'Who asks, as the page that approves shows it.' })
export type TerminalLogin = z.output<typeof TerminalLogin>

export const ApproveTerminalLogin = z
  .strictObject({
    ...grantFields,
    password: optional(typed).meta({
      description: 'The password of the account; needed when the session began more than 10 minutes ago.',
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
