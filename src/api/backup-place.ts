// The places where backups are kept. The secret of a key is accepted and never returned.
import { z } from 'zod'
import { flag, identifier, text, time, withDefault } from './parts/fields.ts'

export const BackupPlaceParams = z.object({
  name: identifier.describe('Name of the place; `folder` is the backup directory of the server.'),
})
export type BackupPlaceParams = z.output<typeof BackupPlaceParams>

const placeName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A place is named by the people who add it. */
export const isPlaceName = (name: string) => placeName.test(name)

const printable = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, { error: 'must not contain control characters' })

export const PutBackupPlace = z
  .strictObject({
    endpoint: z
      .string()
      .max(255)
      .refine((address) => isOrigin(address), { error: 'must be a URL such as https://s3.example.com' })
      .describe('The address of the S3 interface. Over http the backups can be read on their way.'),
    bucket: z
      .string()
      .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/, { error: 'must be the name of a bucket' })
      .describe('The bucket, which must exist.'),
    prefix: withDefault(
      z
        .string()
        .max(200)
        .regex(/^[\w.=-]+(\/[\w.=-]+)*\/?$|^$/, { error: 'must be names with slashes between them' })
        .refine((value) => !value.split('/').some((part) => /^\.+$/.test(part)), {
          error: 'must not contain . or ..',
        }),
      '',
    ).describe('Begins the names of all objects. Two servers must not share bucket and prefix.'),
    region: withDefault(printable(64), 'us-east-1').describe(
      'Many services accept any. Default `us-east-1`.',
    ),
    path_style: withDefault(z.boolean(), false).describe(
      'Whether the bucket is in the path of addresses instead of the host name; most services on a host of ' +
        'their own need it. Default false.',
    ),
    access_key_id: printable(255).describe('The id of the key.'),
    secret_access_key: printable(1024).describe('Its secret. It is stored encrypted and never returned.'),
  })
  .meta({ id: 'PutBackupPlace', description: 'A bucket, and the key to it.' })
export type PutBackupPlace = z.output<typeof PutBackupPlace>

function isOrigin(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, pathname, search, hash, username, password } = new URL(address)
  return /^https?:$/.test(protocol) && pathname === '/' && `${search}${hash}${username}${password}` === ''
}

export const BackupPlace = z
  .object({
    name: z.string().describe('The name.'),
    kind: z.enum(['folder', 's3']).describe('`folder`: the backup directory of the server. `s3`: a bucket.'),
    is_default: z.boolean().describe('Whether backups go there that choose no place.'),
    location: z.string().describe('The path of the folder, or `s3://bucket/prefix`.'),
    endpoint: text.describe('The address of the S3 interface; null for the folder, as all that follow.'),
    bucket: text.describe('The bucket.'),
    prefix: text.describe('Begins the names of all objects.'),
    region: text.describe('The region.'),
    path_style: z.boolean().nullable().describe('Whether the bucket is in the path of addresses.'),
    access_key_id: text.describe('The id of the key.'),
    created_at: time.describe('When it was added; null for the folder.'),
    updated_at: time.describe('When it was changed; null for the folder.'),
  })
  .meta({ id: 'BackupPlace', description: 'A place where backups are kept.' })
export type BackupPlace = z.output<typeof BackupPlace>

export const RemoveBackupPlaceQuery = z.strictObject({
  force: flag(
    'Forgets it even if backups are in it, as when the bucket is lost: they can then only be deleted, and ' +
      'their objects stay.',
  ),
})
export type RemoveBackupPlaceQuery = z.output<typeof RemoveBackupPlaceQuery>

export const BackupPlaceTest = z
  .object({
    name: z.string().describe('The name of the place.'),
    is_ok: z.boolean().describe('Whether all steps succeeded.'),
    steps: z
      .array(
        z.object({
          step: z.enum(['write', 'read', 'list', 'remove']).describe('What was tried, with a small object.'),
          error: text.describe('Why it failed; null if it succeeded.'),
          hint: text.describe('What to do.'),
        }),
      )
      .describe('In this order. The test ends with the first failure.'),
  })
  .meta({ id: 'BackupPlaceTest', description: 'What works at a backup place.' })
export type BackupPlaceTest = z.output<typeof BackupPlaceTest>
