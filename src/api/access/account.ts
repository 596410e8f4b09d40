// The administrator account in requests and responses. An invalid e-mail or password uses up no attempt,
// but a wrong setup code is reported first. The setup schema therefore accepts any text, and the handler
// checks e-mail and password once the code is right.
import { z } from 'zod'
import { isPassword, passwordRule } from '../../account/password-rule.ts'
import { createdAt, id, optional } from '../parts/fields.ts'

const emailLimitChars = 254

/** Normalized for storage and comparison: trimmed, in lower case. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(emailLimitChars)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { error: 'must be an e-mail address' })

export const NewPassword = z.string().refine(isPassword, { error: passwordRule })

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

export const User = z
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
