// Deleted datastores and disks that can be restored.
import { z } from 'zod'
import { datastoreKinds } from './datastore.ts'
import { id, identifier, Name, optional, text, timestamp, whole } from './parts/fields.ts'

export const TrashParams = z.object({ id: identifier.describe('Id of the trash entry.') })

const kinds = ['datastore', 'disk'] as const

export const TrashEntry = z
  .object({
    id: z.string().describe('For a datastore, its own id, which it keeps.'),
    kind: z.enum(kinds).describe('What was deleted.'),
    name: z.string().describe('Name of the datastore, or of the Docker volume of the disk.'),
    status: z
      .enum(['deleting', 'kept'])
      .describe('`deleting` until its container is removed; it can be restored after that.'),
    datastore_kind: z.enum(datastoreKinds).nullable().describe('Postgres or Redis; null for a disk.'),
    version: text.describe('Version of Postgres or Redis.'),
    service_name: text.describe('Name of the service that the disk belonged to.'),
    mount_path: text.describe(
      'The path in the instances, for the volume of an image that had no disk there; else null.',
    ),
    backup_id: text.describe(
      'The final backup of a datastore that was available; it is removed with the entry.',
    ),
    size_bytes: whole.describe('Size of the volume; null if unknown.'),
    deleted_at: timestamp.describe('When the datastore or disk was deleted.'),
    expires_at: timestamp.describe('When the data will be deleted.'),
  })
  .meta({ id: 'TrashEntry', description: 'A deleted datastore or disk that can be restored.' })
export type TrashEntry = z.output<typeof TrashEntry>

export const RestoreTrash = z
  .strictObject({
    name: optional(Name).describe('A new name for the datastore; by default its previous name.'),
  })
  .meta({ id: 'RestoreTrash', description: 'How to restore an entry of the trash.' })
export type RestoreTrash = z.output<typeof RestoreTrash>

export const RestoredTrash = z
  .object({
    id,
    kind: z.enum(kinds).describe('What was restored.'),
    name: z.string().describe('Its name after the restore.'),
  })
  .meta({ id: 'RestoredTrash', description: 'What was restored.' })
export type RestoredTrash = z.output<typeof RestoredTrash>
