// The account, its sessions and its API tokens. A wrong setup code is reported first, so the setup schema
// accepts any text, and the handler checks e-mail and password once the code is right.
import { z } from 'zod'
import { isPassword, passwordRule } from '../../account/password-rule.ts'
import { tokenRoles } from '../../account/rights.ts'
import {
  createdAt,
  id,
  identifier,
  name,
  optional,
  text,
  time,
  timestamp,
  withDefault,
} from '../parts/fields.ts'

const emailLimitChars = 254

/** Normalized for storage and comparison: trimmed, in lower case. */
const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(emailLimitChars)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { error: 'must be an e-mail address' })

const NewPassword = z.string().refine(isPassword, { error: passwordRule })

/** Any text that a user typed. It is compared, not stored. */
export const typed = z.string().max(8192)

export const Setup = z
  .strictObject({
    code: typed.describe(
      'The setup code. It is part of the printed setup link, and stored in the data directory.',
    ),
    email: typed.describe('The e-mail address of the account.'),
    password: typed.describe(`It ${passwordRule}.`),
  })
  .meta({ id: 'Setup', description: 'The setup of a new server.' })
export type Setup = z.output<typeof Setup>

/** The part of a setup that is stored. */
export const NewAccount = z.object({ email: Email, password: NewPassword })
export type NewAccount = z.output<typeof NewAccount>

export const Login = z
  .strictObject({
    email: typed.trim().toLowerCase().describe('The e-mail address of the account.'),
    password: typed.describe('The password of the account.'),
  })
  .meta({ id: 'Login', description: 'A sign-in.' })
export type Login = z.output<typeof Login>

export const ChangePassword = z
  .strictObject({
    current_password: typed.describe('The current password.'),
    new_password: NewPassword.describe(`It ${passwordRule}.`),
    revoke_tokens: optional(z.boolean()).describe('Also revokes all API tokens.'),
  })
  .meta({ id: 'ChangePassword', description: 'The new password.' })
export type ChangePassword = z.output<typeof ChangePassword>

const User = z
  .object({ id, email: z.string().describe('The e-mail address, in lower case.'), created_at: createdAt })
  .meta({ id: 'User', description: 'The administrator.' })

export const AuthStatus = z
  .object({
    auth: z
      .enum(['session', 'token'])
      .nullable()
      .describe(
        'How this request is authenticated. An invalid or expired credential counts as no credential.',
      ),
    setup_required: z.boolean().describe('True until the account is created.'),
    user: User.nullable().describe('For sessions.'),
  })
  .meta({
    id: 'AuthStatus',
    description: 'How the request is authenticated, and whether the server has an account.',
  })
export type AuthStatus = z.output<typeof AuthStatus>

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

export const tokenName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
  .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })

export const TokenParams = z.object({ id: identifier.describe('Id of the API token.') })

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
