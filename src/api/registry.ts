// Registry credentials. Passwords are accepted and never returned.
import { z } from 'zod'
import { createdAt, identifier, updatedAt } from './parts/fields.ts'

/** Long enough for a service account's key, which some registries accept as a password. */
const passwordLimitBytes = 16 * 1024

export const RegistryParams = z.object({
  host: identifier
    .max(255)
    .describe('As in image names: ghcr.io, registry.example.com:5000; docker.io for Docker Hub.'),
})
export type RegistryParams = z.output<typeof RegistryParams>

export const PutRegistry = z
  .strictObject({
    username: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\p{Cc}:]*$/u, { error: 'must not contain control characters or colons' })
      .describe('The user name at the registry.'),
    password: z
      .string()
      .min(1)
      .refine((text) => Buffer.byteLength(text) <= passwordLimitBytes, {
        error: 'must be at most 16 KiB long',
      })
      .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be valid Unicode' })
      .describe('Password or token. It is stored encrypted and never returned.'),
    verify: z
      .boolean()
      .nullish()
      .describe(
        'Verifies the credentials with the registry first; rejected credentials are not stored. ' +
          'Default false.',
      ),
  })
  .meta({ id: 'PutRegistry', description: 'Credentials of a registry.' })
export type PutRegistry = z.output<typeof PutRegistry>

export const Registry = z
  .object({
    host: z.string().describe('The host.'),
    username: z.string().describe('The user name at the registry.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Registry', description: 'Credentials for a registry.' })
export type Registry = z.output<typeof Registry>
