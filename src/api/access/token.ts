// API tokens. Only the response to the creation contains the token itself.
import { z } from 'zod'
import { tokenRoles } from '../../account/rights.ts'
import { createdAt, id, identifier, name, optional, time, withDefault } from '../parts/fields.ts'

/** The name of a token, and of a terminal login, which passes it to its token. */
export const tokenName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
  .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })

export const TokenParams = z.object({ id: identifier.describe('Id of the API token.') })

/** The rights that the administrator chooses for a token, when creating it or when approving a terminal. */
export const grantFields = {
  role: withDefault(z.enum(tokenRoles), 'admin').describe(
    '`read`: reads everything except secret values. `deploy`: also deploys, restarts, scales, rolls ' +
      'back, suspends and resumes services, and runs and cancels jobs. `admin`: everything except the ' +
      'account.',
  ),
  services: optional(z.array(identifier).min(1).max(100)).describe(
    'Ids or names of the services that the token is limited to; all services by default. Not allowed for ' +
      '`admin`. A limited token sees only what belongs to its services.',
  ),
  expires_in_days: optional(z.int().min(1).max(3650)).describe('By default the token does not expire.'),
}

export const CreateToken = z
  .strictObject({ name: tokenName.min(1).describe('A name to tell tokens apart.'), ...grantFields })
  .meta({ id: 'CreateToken', description: 'A new API token.' })
export type CreateToken = z.output<typeof CreateToken>

export const Token = z
  .object({
    id,
    name,
    hint: z.string().describe('Last four characters of the token.'),
    role: z.enum(tokenRoles).describe('The role: `read`, `deploy` or `admin`.'),
    services: z
      .array(z.string())
      .nullable()
      .describe(
        'Names of the services that the token is limited to, ids of deleted ones; null without a limit.',
      ),
    created_at: createdAt,
    expires_at: time.describe('When it expires; null for never.'),
    last_used_at: time.describe('Accurate to the minute; null before the first use.'),
  })
  .meta({ id: 'Token', description: 'An API token, without the token itself.' })
export type Token = z.output<typeof Token>

export const CreatedToken = z
  .object({
    api_token: Token.describe('The token, as GET /auth/tokens lists it.'),
    token: z.string().describe('The token. It is returned only here.'),
  })
  .meta({ id: 'CreatedToken', description: 'An API token, with the token itself.' })
export type CreatedToken = z.output<typeof CreatedToken>
