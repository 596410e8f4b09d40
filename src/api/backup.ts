// Backups and restores in the API, and the requests that start them.
import { z } from 'zod'
import { datastoreKinds } from './datastore.ts'
import { failure } from './parts/failure.ts'
import {
  clamped,
  createdAt,
  cursor,
  finishedAt,
  id,
  identifier,
  nextAttemptAt,
  recorded,
  text,
  whole,
} from './parts/fields.ts'

export const BackupParams = z.object({ id: z.string().min(1).max(64).describe('Id of the backup.') })

export const RestoreParams = z.object({ id: z.string().min(1).max(64).describe('Id of the restore.') })

export const BackupsQuery = z.strictObject({
  datastore: identifier
    .optional()
    .describe('Only backups of this datastore: its id or name, also of a deleted one.'),
  disk: identifier
    .optional()
    .describe(
      'Only backups of this disk: its name, or the id or name of its service, also of a deleted one.',
    ),
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
  id,
  datastore_id: text.describe('The id of its datastore; null for a disk.'),
  datastore: text.describe('Name of the datastore; null for a disk.'),
  service_id: text.describe('The id of the service of the disk; null for a datastore.'),
  service: text.describe('Name of the service of the disk; null for a datastore.'),
  disk: text.describe('Name of the disk; null for a datastore.'),
  kind: z.enum([...datastoreKinds, 'disk']).describe('Postgres, Redis, or the disk of a service.'),
  ...failure,
  done_bytes: whole.describe('Bytes processed in the current phase.'),
  total_bytes: whole.describe('Total bytes of the current phase; null while unknown.'),
  created_at: createdAt,
  finished_at: finishedAt,
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
    size_bytes: whole.describe('The size of the backup file; null until the file is complete.'),
    version: text.describe('Version of the server; null for a disk.'),
    trigger: z
      .enum(['manual', 'schedule', 'final', 'server'])
      .describe(
        '`manual`: a request. `schedule`: the schedule of the datastore. `final`: the deletion of the ' +
          'datastore. `server`: a backup of the server, which deletes it at its end.',
      ),
    status: z
      .enum(['running', 'good', 'failed', 'deleting'])
      .describe('good: the file was read back from disk and verified.'),
    phase: z
      .enum(['dumping', 'checking', 'waiting'])
      .nullable()
      .describe(
        'The phase of a running backup. `dumping`: reading the data. `checking`: verifying the file. ' +
          '`waiting`: for the next attempt.',
      ),
    attempts: z.int().describe('The number of attempts.'),
    next_attempt_at: nextAttemptAt,
    sha256: text.describe('Checksum of the backup file; null until the file is complete.'),
    place: z.string().describe('Name of its backup place; `folder` is the backup directory of the server.'),
    file: z.string().describe('Path on the server, or `s3://bucket/key`.'),
  })
  .meta({ id: 'Backup', description: 'A backup of a datastore or a disk.' })
export type Backup = z.output<typeof Backup>

export const CreateRestore = z
  .strictObject({
    backup_id: z
      .string()
      .min(1)
      .max(64)
      .describe('The id of a good backup of any datastore of the same kind, or of any disk.'),
  })
  .meta({ id: 'CreateRestore', description: 'The backup to restore.' })
export type CreateRestore = z.output<typeof CreateRestore>

export const Restore = z
  .object({
    ...shared,
    new_disk: text.describe('Name of the volume that becomes the disk; null for a datastore.'),
    size_bytes: whole.describe('The size of the file; null until known.'),
    backup_id: text.describe('Null for an uploaded file.'),
    status: z
      .enum(['running', 'undoing', 'done', 'failed', 'canceled'])
      .describe(
        '`running`: see `phase`. `undoing`: failed or canceled; prepared data is being removed. `done`: ' +
          'the restored data is in use. `failed`: see `error`. `canceled`: on request. After a failure or ' +
          'a cancellation the previous data is in use.',
      ),
    phase: z
      .enum(['checking', 'loading', 'switching'])
      .nullable()
      .describe('The data is unchanged until `switching`.'),
  })
  .meta({ id: 'Restore', description: 'A restore of a backup or a file into a datastore or a disk.' })
export type Restore = z.output<typeof Restore>
