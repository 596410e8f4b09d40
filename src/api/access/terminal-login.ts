// Terminal logins in requests and responses.
import { z } from 'zod'
import { createdAt, id, identifier, optional, timestamp } from '../parts/fields.ts'
import { grantFields, tokenName, typed } from './account.ts'

export const TerminalLoginParams = z.object({ id: identifier.describe('Id of the terminal login.') })

export const StartTerminalLogin = z
  .strictObject({
    name: optional(tokenName).describe('Name of the new token; a generic name by default.'),
    start_code: optional(z.string().max(100)).describe(
      'The start code that the account page shows. The request is then accepted even when others have ' +
        'used up the rate of such requests. It grants nothing else.',
    ),
  })
  .meta({ id: 'StartTerminalLogin', description: 'A terminal that requests a token.' })
export type StartTerminalLogin = z.output<typeof StartTerminalLogin>

export const StartedTerminalLogin = z
  .object({
    id,
    code: z.string().describe('Shown by the terminal, for the administrator to compare.'),
    secret: z.string().describe('Kept by the terminal, which polls with it.'),
    expires_in: z.int().describe('Seconds.'),
    interval: z.int().describe('Seconds between polls.'),
  })
  .meta({ id: 'StartedTerminalLogin', description: 'What the terminal needs to poll for the decision.' })
export type StartedTerminalLogin = z.output<typeof StartedTerminalLogin>

export const TerminalLogin = z
  .object({
    id,
    code: z.string().describe('The code, which must match the code in the terminal.'),
    name: z.string().describe('The name of the new token.'),
    address: z.string().describe('Address of the terminal.'),
    status: z
      .enum(['pending', 'approved', 'denied'])
      .describe(
        '`pending`: no decision yet. `approved`: the terminal gets a token. `denied`: it does not. A ' +
          'decided login, or one older than ten minutes, is deleted.',
      ),
    created_at: createdAt,
    expires_at: timestamp.describe('When it expires; null for never.'),
  })
  .meta({ id: 'TerminalLogin', description: 'The login request, as the approval page shows it.' })
export type TerminalLogin = z.output<typeof TerminalLogin>

export const ApproveTerminalLogin = z
  .strictObject({
    ...grantFields,
    password: optional(typed).describe(
      'Password of the account; required if the session is older than 10 minutes.',
    ),
  })
  .meta({ id: 'ApproveTerminalLogin', description: "The role of the terminal's token." })
export type ApproveTerminalLogin = z.output<typeof ApproveTerminalLogin>

export const PollTerminalLogin = z
  .strictObject({ secret: z.string().max(200).describe('The secret from the start of the login.') })
  .meta({ id: 'PollTerminalLogin', description: 'A poll of a terminal.' })
export type PollTerminalLogin = z.output<typeof PollTerminalLogin>

export const PolledTerminalLogin = z
  .object({
    status: z
      .enum(['pending', 'approved', 'denied'])
      .describe('`pending`: poll again after the interval. The other statuses are returned once.'),
    token: z.string().optional().describe('With `approved`, once.'),
  })
  .meta({ id: 'PolledTerminalLogin', description: 'The decision about a terminal login.' })
export type PolledTerminalLogin = z.output<typeof PolledTerminalLogin>
