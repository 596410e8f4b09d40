// Env variables. Values are byte-exact and secret: no message of this file may contain one.
import { z } from 'zod'
import { envKeyPattern, envKeyRule } from '../domain/env-file.ts'
import { flag, optional, text } from './parts/fields.ts'

const valueLimitBytes = 64 * 1024
const totalLimitBytes = 512 * 1024

export function isWithinTotal(vars: readonly { key: string; value: string }[]): boolean {
  const bytes = vars.reduce(
    (sum, { key, value }) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  return bytes <= totalLimitBytes
}

export const EnvKey = z.string().max(256).regex(envKeyPattern, { error: envKeyRule })
const value = z
  .string()
  .refine((text) => !text.includes('\0'), { error: 'must not contain a NUL' })
  .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })
  .refine((text) => Buffer.byteLength(text) <= valueLimitBytes, { error: 'must be at most 64 KiB long' })

export const EnvVar = z
  .strictObject({
    key: EnvKey.describe('Letters, digits and _, not starting with a digit.'),
    value: value.describe('Stored byte by byte; must not contain NUL.'),
  })
  .meta({
    id: 'EnvVar',
    description:
      'A value may have up to 64 KiB, all values together 512 KiB. ${{service.NAME.host}} is a ' +
      'reference, $${{ a literal ${{.',
  })
export type EnvVar = z.output<typeof EnvVar>

export const ShownEnvVar = z
  .object({
    key: z.string().describe('The name of the variable.'),
    value: text.describe('Null for tokens whose role is not `admin`.'),
  })
  .meta({ id: 'ShownEnvVar', description: 'An env variable.' })
export type ShownEnvVar = z.output<typeof ShownEnvVar>

export const EnvVars = z.array(EnvVar).max(4096).superRefine(refuseTwice)

function refuseTwice(vars: EnvVar[], { addIssue }: z.core.$RefinementCtx<EnvVar[]>): void {
  const seen = new Set<string>()
  for (const [index, one] of vars.entries()) {
    if (seen.has(one.key)) {
      addIssue({ code: 'custom', path: [index, 'key'], message: 'is specified twice', input: one.key })
    }
    seen.add(one.key)
  }
}

export const ReplaceEnv = z
  .strictObject({ vars: EnvVars.describe('The new variables; all others are removed.') })
  .meta({ id: 'ReplaceEnv', description: 'All env variables of a service.' })
export type ReplaceEnv = z.output<typeof ReplaceEnv>

export const ChangeEnv = z
  .strictObject({
    set: optional(EnvVars).describe('Variables to add or change.'),
    unset: optional(z.array(z.string().max(256)).max(4096)).describe(
      'Keys of variables to remove; unknown keys are ignored.',
    ),
  })
  .meta({ id: 'ChangeEnv', description: '`unset` is applied before `set`: a key in both is set.' })
export type ChangeEnv = z.output<typeof ChangeEnv>

export const EnvQuery = z.strictObject({
  restart: flag('Restarts the service after the variables are saved.'),
  dry_run: flag('Reports what would change, and saves nothing.'),
})
export type EnvQuery = z.output<typeof EnvQuery>

const keys = z.array(z.string())

export const EnvChanges = z
  .object({
    added: keys.describe('Added keys.'),
    changed: keys.describe('Keys with a changed value.'),
    removed: keys.describe('Removed keys.'),
    unresolved: keys.describe('Keys whose value refers to something that does not exist.'),
  })
  .meta({
    id: 'EnvChanges',
    description: 'Keys only. `unresolved` lists references to something that does not exist.',
  })
export type EnvChanges = z.output<typeof EnvChanges>
