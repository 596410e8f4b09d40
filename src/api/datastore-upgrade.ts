// The move of a Postgres to another major version.
import { z } from 'zod'
import { optional, timestamp } from './parts/fields.ts'

export const serverVersion = z
  .string()
  .max(16)
  .regex(/^\d+(\.\d+)*$/, { error: 'must be digits and dots' })

export const UpgradeDatastore = z
  .strictObject({
    version: optional(serverVersion).meta({ description: 'The newer major version of Postgres.' }),
    back: optional(z.boolean()).meta({
      description: 'Returns to the version before the newest upgrade, without the writes since then.',
    }),
  })
  .refine(({ version, back }) => (version === undefined) === (back === true), {
    error: 'give either version or back',
  })
  .meta({ id: 'UpgradeDatastore' })
export type UpgradeDatastore = z.output<typeof UpgradeDatastore>

export const UpgradeEstimateQuery = z.strictObject({
  version: serverVersion.meta({ description: 'The newer major version of Postgres.' }),
})
export type UpgradeEstimateQuery = z.output<typeof UpgradeEstimateQuery>

export const UpgradeEstimate = z
  .object({
    from: z.string(),
    to: z.string(),
    size_bytes: z.int().meta({ description: 'The size of all databases.' }),
    downtime_seconds: z.int().meta({
      description: 'How long no client can connect, at 10 MiB of data per second.',
    }),
  })
  .meta({ id: 'UpgradeEstimate' })
export type UpgradeEstimate = z.output<typeof UpgradeEstimate>

/** The newest upgrade of a datastore. */
export const upgrade = z
  .object({
    id: z.string(),
    from: z.string().meta({ description: 'The version before.' }),
    to: z.string().meta({ description: 'The version after it.' }),
    error: z.string().nullable().meta({ description: 'Why it failed; null if it did not.' }),
    error_code: z.string().nullable().meta({ description: 'The stable code of the error.' }),
    started_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .nullable()
  .meta({ description: 'The newest upgrade, or return from one; `finished_at` is null while it runs.' })

export const former = z
  .object({
    version: z.string().meta({ description: 'The version of Postgres.' }),
    switched_at: timestamp.meta({ description: 'When it was left.' }),
    expires_at: timestamp.nullable().meta({ description: 'When its data is deleted; null for never.' }),
  })
  .nullable()
  .meta({
    description:
      'The version before the newest upgrade, while its data is in the trash. A return to it loses the ' +
      'writes since `switched_at`.',
  })
