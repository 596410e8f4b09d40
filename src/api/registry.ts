// Registry credentials. Passwords are accepted and never returned.
import { z } from 'zod'
import { identifier, timestamp } from './parts/fields.ts'

/** Long enough for a service account's key, which some registries take as a password. */
const passwordLimitBytes = 16 * 1024

export const RegistryParams = z.object({
  host: identifier.max(255).meta({
    description: 'As in the names of its images: ghcr.io, registry.example.com:5000; docker.io for the hub.',
  }),
})
export type RegistryParams = z.output<typeof RegistryParams>

export const PutRegistry = z
  .strictObject({
    username: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\p{Cc}:]*$/u, { error: 'must have no control characters and no colon' }),
    password: z
      .string()
      .min(1)
      .refine((text) => Buffer.byteLength(text) <= passwordLimitBytes, {
        error: 'must be at most 16 KiB long',
      })
      .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })
      .meta({ description: 'Or a token. It is sealed and never shown.' }),
    verify: z
      .boolean()
      .nullish()
      .meta({ description: 'Asks the registry first; what it refuses is not stored. Default false.' }),
  })
  .meta({ id: 'PutRegistry' })
export type PutRegistry = z.output<typeof PutRegistry>

export const Registry = z
  .object({ host: z.string(), username: z.string(), created_at: timestamp, updated_at: timestamp })
  .meta({ id: 'Registry', description: 'A registry that is asked with credentials.' })
export type Registry = z.output<typeof Registry>
