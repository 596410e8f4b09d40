// The name of a service or a datastore. Both share one namespace.
import { z } from 'zod'

/** Names in /etc/hosts of a container, or names that Berth itself uses. */
const reservedNames = new Set([
  'berth',
  'ip6-allnodes',
  'ip6-allrouters',
  'ip6-localhost',
  'ip6-localnet',
  'ip6-loopback',
  'ip6-mcastprefix',
  'localhost',
  'new',
])
const looksLikeId = /^(usr|ses|tok|cli|crt|git|svc|dep|job|dst)-[0-9a-z]{26}$/

export const Name = z
  .string()
  .regex(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/, {
    error:
      'must be 1 to 40 lower-case letters, digits and dashes, start with a letter and not end with a dash',
  })
  .refine((text) => !reservedNames.has(text), { error: 'is a reserved word' })
  .refine((text) => !looksLikeId.test(text), { error: 'must not look like an id' })
