// Backups of the whole server in the API.
import { z } from 'zod'
import { datastoreKinds } from './datastore.ts'
import { failure } from './parts/failure.ts'
import { createdAt, finishedAt, id, recorded, text, whole, withDefault } from './parts/fields.ts'

export const ServerBackupParams = z.object({
  id: z.string().min(1).max(64).describe('Id of the backup of the server.'),
})

export const CreateServerBackup = z
  .strictObject({
    datastores: withDefault(z.boolean(), false).describe(
      'Whether all datastores are backed up first, so that their data is in it. Default false.',
    ),
    disks: withDefault(z.boolean(), false).describe(
      'Whether the disks of all services are backed up first. Default false.',
    ),
  })
  .meta({ id: 'CreateServerBackup', description: 'What the backup has in addition.' })
export type CreateServerBackup = z.output<typeof CreateServerBackup>

export const ServerBackup = z
  .object({
    id,
    trigger: z
      .enum(['manual', 'schedule'])
      .describe('`manual`: a request. `schedule`: the option of berthd.'),
    status: z
      .enum(['running', 'stored', 'failed', 'deleting'])
      .describe('stored: the file is complete, and was read back.'),
    phase: z.enum(['writing', 'checking']).nullable().describe('The phase of a running backup.'),
    ...failure,
    place: z.string().describe('Name of its backup place; `folder` is the folder for backups of the server.'),
    file: z.string().describe('Path on the server, or `s3://bucket/key`.'),
    size_bytes: whole.describe('The size of the file; null until it is complete.'),
    sha256: text.describe('Checksum of the file; null until it is complete.'),
    key_fingerprint: text.describe('The fingerprint of the recovery key that a restore needs.'),
    data: z
      .array(
        z.object({
          kind: z.enum([...datastoreKinds, 'disk']).describe('Postgres, Redis, or the disk of a service.'),
          name: z.string().describe('Name of the datastore, or of the service of the disk.'),
          copied_at: z.string().describe('RFC 3339. The moment that its data shows.'),
          error: text.describe('Why it is not in the backup; null if it is.'),
        }),
      )
      .describe('What was backed up for it first.'),
    created_at: createdAt,
    finished_at: finishedAt,
    ...recorded,
  })
  .meta({ id: 'ServerBackup', description: 'A backup of the whole server.' })
export type ServerBackup = z.output<typeof ServerBackup>
