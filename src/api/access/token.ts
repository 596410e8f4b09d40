// API tokens. Only the response to the creation contains the token itself.
import { z } from 'zod'
import { tokenRoles } from '../../account/rights.ts'
import { identifier, optional, timestamp, withDefault } from '../parts/fields.ts'

/** The name of a token, and of a terminal login, which passes it to its token. */
export const tokenName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
  .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })

export const TokenParams = z.object({ id: identifier.meta({ description: 'Id of the API token.' }) })
export type TokenParams = z.output<typeof TokenParams>

/** The rights that the administrator chooses for a token, when creating it or when approving a terminal. */
export const grantFields = {
  role: withDefault(z.enum(tokenRoles), 'admin').meta({
    description:
      '`read`: reads everything except secret values. `deploy`: also deploys, restarts, scales, rolls ' +
      'back, suspends and resumes services, and runs and cancels jobs. `admin`: everything except the ' +
      'account.',
  }),
  services: optional(z.array(identifier).min(1).max(100)).meta({
    description:
      'Ids or names of the services that the token is limited to; all services by default. Not allowed for ' +
      '`admin`. A limited token sees only what belongs to its services.',
  }),
  expires_in_days: optional(z.int().min(1).max(3650)).meta({
    description: 'By default the token does not expire.',
  }),
}

export const CreateToken = z
  .strictObject({ name: tokenName.min(1), ...grantFields })
  .meta({ id: 'CreateToken' })
export type CreateToken = z.output<typeof CreateToken>

export const Token = z
  .object({
    id: z.string(),
    name: z.string(),
    hint: z.string().meta({ description: 'Last four characters of the token.' }),
    role: z.enum(tokenRoles),
    services: z.array(z.string()).nullable().meta({
      description:
        'Names of the services that the token is limited to, ids of deleted ones; null without a limit.',
    }),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp
      .nullable()
      .meta({ description: 'Accurate to the minute; null before the first use.' }),
  })
  .meta({ id: 'Token' })
export type Token = z.output<typeof Token>

export const CreatedToken = z
  .object({
    api_token: Token,
    token: z.string().meta({ description: 'The token. It is returned only here.' }),
  })
  .meta({ id: 'CreatedToken' })
export type CreatedToken = z.output<typeof CreatedToken>
