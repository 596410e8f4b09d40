// The administrator account in requests and responses. An invalid e-mail or password uses up no attempt,
// but a wrong setup code is reported first. The setup schema therefore accepts any text, and the handler
// checks e-mail and password once the code is right.
import { z } from 'zod'
import { isPassword, passwordRule } from '../../account/password-rule.ts'
import { optional, timestamp } from '../parts/fields.ts'

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
    code: typed.meta({
      description: 'The setup code. It is part of the printed setup link, and stored in the data directory.',
    }),
    email: typed,
    password: typed.meta({ description: `It ${passwordRule}.` }),
  })
  .meta({ id: 'Setup' })
export type Setup = z.output<typeof Setup>

/** The part of a setup that is stored. */
export const NewAccount = z.object({ email: Email, password: NewPassword })
export type NewAccount = z.output<typeof NewAccount>

export const Login = z
  .strictObject({ email: typed.trim().toLowerCase(), password: typed })
  .meta({ id: 'Login' })
export type Login = z.output<typeof Login>

export const ChangePassword = z
  .strictObject({
    current_password: typed,
    new_password: NewPassword.meta({
      description: `It ${passwordRule}.`,
    }),
    revoke_tokens: optional(z.boolean()).meta({ description: 'Also revokes all API tokens.' }),
  })
  .meta({ id: 'ChangePassword' })
export type ChangePassword = z.output<typeof ChangePassword>

export const User = z
  .object({ id: z.string(), email: z.string(), created_at: timestamp })
  .meta({ id: 'User', description: 'The administrator.' })
export type User = z.output<typeof User>

export const AuthStatus = z
  .object({
    auth: z.enum(['session', 'token']).nullable().meta({
      description:
        'How this request is authenticated. An invalid or expired credential counts as no credential.',
    }),
    setup_required: z.boolean().meta({ description: 'True until the account is created.' }),
    user: User.nullable().meta({ description: 'For sessions.' }),
  })
  .meta({ id: 'AuthStatus' })
export type AuthStatus = z.output<typeof AuthStatus>
