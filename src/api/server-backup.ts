// Backups of the whole server in the API.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { createdAt, finishedAt, id, recorded, text, whole } from './parts/fields.ts'

export const ServerBackupParams = z.object({
  id: z.string().min(1).max(64).describe('Id of the backup of the server.'),
})

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
    created_at: createdAt,
    finished_at: finishedAt,
    ...recorded,
  })
  .meta({ id: 'ServerBackup', description: 'A backup of the whole server.' })
export type ServerBackup = z.output<typeof ServerBackup>
