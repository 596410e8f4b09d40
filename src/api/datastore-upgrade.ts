// The move of a Postgres to another major version.
import { z } from 'zod'
import { finishedAt, id, optional, text, time, timestamp } from './parts/fields.ts'

export const serverVersion = z
  .string()
  .max(16)
  .regex(/^\d+(\.\d+)*$/, { error: 'must be digits and dots' })

export const UpgradeDatastore = z
  .strictObject({
    version: optional(serverVersion).describe('The newer major version of Postgres.'),
    back: optional(z.boolean()).describe(
      'Returns to the version before the newest upgrade, without the writes since then.',
    ),
  })
  .refine(({ version, back }) => (version === undefined) === (back === true), {
    error: 'give either version or back',
  })
  .meta({
    id: 'UpgradeDatastore',
    description: 'An upgrade to a newer major version, or the return from one.',
  })
export type UpgradeDatastore = z.output<typeof UpgradeDatastore>

export const UpgradeEstimateQuery = z.strictObject({
  version: serverVersion.describe('The newer major version of Postgres.'),
})
export type UpgradeEstimateQuery = z.output<typeof UpgradeEstimateQuery>

export const UpgradeEstimate = z
  .object({
    from: z.string().describe('The version that it has.'),
    to: z.string().describe('The requested version.'),
    size_bytes: z.int().describe('The size of all databases.'),
    downtime_seconds: z.int().describe('How long no client can connect, at 10 MiB of data per second.'),
  })
  .meta({ id: 'UpgradeEstimate', description: 'What an upgrade would take.' })
export type UpgradeEstimate = z.output<typeof UpgradeEstimate>

export const upgrade = z
  .object({
    id,
    from: z.string().describe('The version before.'),
    to: z.string().describe('The version after it.'),
    error: text.describe('Why it failed; null if it did not.'),
    error_code: text.describe('The stable code of the error.'),
    started_at: timestamp.describe('When it started; null until then.'),
    finished_at: finishedAt,
  })
  .nullable()
  .describe('The newest upgrade, or return from one; `finished_at` is null while it runs.')

export const former = z
  .object({
    version: z.string().describe('The version of Postgres.'),
    switched_at: timestamp.describe('When it was left.'),
    expires_at: time.describe('When its data is deleted; null for never.'),
  })
  .nullable()
  .describe(
    'The version before the newest upgrade, while its data is in the trash. A return to it loses the ' +
      'writes since `switched_at`.',
  )
