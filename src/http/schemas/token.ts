// API tokens (section 2 of the API document, API token record).
// Mind: the token itself is in the answer to its creation, and nowhere else.
import { z } from 'zod'
import { identifier, optional, timestamp } from './fields.ts'

/** Of a token, and of a terminal login, whose token gets it. */
export const tokenName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, { error: 'must have no control characters' })
  .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })

export const TokenParams = z.object({ id: identifier })
export type TokenParams = z.output<typeof TokenParams>

export const CreateToken = z
  .strictObject({
    name: tokenName.min(1),
    expires_in_days: optional(z.int().min(1).max(3650)).meta({
      description: 'Without it the token never ends by itself.',
    }),
  })
  .meta({ id: 'CreateToken' })
export type CreateToken = z.output<typeof CreateToken>

export const Token = z
  .object({
    id: z.string(),
    name: z.string(),
    hint: z.string().meta({ description: 'The end of the token.' }),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable().meta({ description: 'To the minute; null until its first use.' }),
  })
  .meta({ id: 'Token' })
export type Token = z.output<typeof Token>

export const CreatedToken = z
  .object({ api_token: Token, token: z.string().meta({ description: 'Shown only here.' }) })
  .meta({ id: 'CreatedToken' })
export type CreatedToken = z.output<typeof CreatedToken>
