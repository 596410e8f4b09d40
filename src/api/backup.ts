// Backups and restores in the API, and the requests that start them.
import { z } from 'zod'
import { datastoreKinds } from './datastore.ts'
import { failure } from './parts/failure.ts'
import { clamped, cursor, identifier, timestamp } from './parts/fields.ts'
import { recorded } from './parts/recorded.ts'

const text = z.string().nullable()
const bytes = z.int().nullable()
const time = timestamp.nullable()

export const BackupParams = z.object({
  id: z.string().min(1).max(64).meta({ description: 'Id of the backup.' }),
})
export type BackupParams = z.output<typeof BackupParams>

export const RestoreParams = z.object({
  id: z.string().min(1).max(64).meta({ description: 'Id of the restore.' }),
})
export type RestoreParams = z.output<typeof RestoreParams>

export const BackupsQuery = z.strictObject({
  datastore: identifier
    .optional()
    .meta({ description: 'Only backups of this datastore: its id or name, also of a deleted one.' }),
  limit: z
    .string()
    .regex(/^\d{1,9}$/, { error: 'must be a whole number' })
    .optional()
    .transform((text) => (text === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Number(text))))
    .meta({ description: 'Maximum number of backups; all by default.', type: 'integer', pattern: undefined }),
  before: cursor('bak'),
})
export type BackupsQuery = z.output<typeof BackupsQuery>

const shared = {
  id: z.string(),
  datastore_id: z.string(),
  datastore: z.string().meta({ description: 'Name of the datastore.' }),
  kind: z.enum(datastoreKinds),
  ...failure,
  size_bytes: bytes,
  done_bytes: bytes.meta({ description: 'Bytes processed in the current phase.' }),
  total_bytes: bytes.meta({ description: 'Total bytes of the current phase; null while unknown.' }),
  created_at: timestamp,
  finished_at: time,
  ...recorded,
}

export const RestoresQuery = z.strictObject({
  limit: clamped(
    50,
    1,
    500,
    'Maximum number of restores. Values below 1 count as 1, values above 500 as 500.',
  ),
  before: cursor('rst'),
})
export type RestoresQuery = z.output<typeof RestoresQuery>

export const Backup = z
  .object({
    ...shared,
    version: z.string().meta({ description: 'Version of the server.' }),
    trigger: z.enum(['manual', 'schedule', 'final']),
    status: z
      .enum(['running', 'good', 'failed', 'deleting'])
      .meta({ description: 'good: the file was read back from disk and verified.' }),
    phase: z.enum(['dumping', 'checking', 'waiting']).nullable(),
    attempts: z.int(),
    next_attempt_at: time,
    sha256: text,
    file: z.string().meta({ description: 'Path on the server.' }),
  })
  .meta({ id: 'Backup' })
export type Backup = z.output<typeof Backup>

export const CreateRestore = z
  .strictObject({ backup_id: z.string().min(1).max(64) })
  .meta({ id: 'CreateRestore' })
export type CreateRestore = z.output<typeof CreateRestore>

export const Restore = z
  .object({
    ...shared,
    backup_id: text.meta({ description: 'Null for an uploaded file.' }),
    status: z.enum(['running', 'undoing', 'done', 'failed', 'canceled']),
    phase: z
      .enum(['checking', 'loading', 'switching'])
      .nullable()
      .meta({ description: 'The datastore is unchanged until `switching`.' }),
  })
  .meta({ id: 'Restore' })
export type Restore = z.output<typeof Restore>
