// Deleted datastores and disks that can be restored.
import { z } from 'zod'
import { datastoreKinds } from './datastore.ts'
import { identifier, optional, timestamp } from './parts/fields.ts'
import { Name } from './parts/name.ts'

const text = z.string().nullable()

export const TrashParams = z.object({
  id: identifier.meta({ description: 'Id of the trash entry.' }),
})
export type TrashParams = z.output<typeof TrashParams>

const kinds = ['datastore', 'disk'] as const

export const TrashEntry = z
  .object({
    id: z.string().meta({ description: 'For a datastore, its own id, which it keeps.' }),
    kind: z.enum(kinds),
    name: z.string().meta({ description: 'Name of the datastore, or of the Docker volume of the disk.' }),
    status: z.enum(['deleting', 'kept']).meta({
      description: '`deleting` until its container is removed; it can be restored after that.',
    }),
    datastore_kind: z.enum(datastoreKinds).nullable(),
    version: text.meta({ description: 'Version of Postgres or Redis.' }),
    service_name: text.meta({ description: 'Name of the service that the disk belonged to.' }),
    mount_path: text.meta({
      description: 'The path in the instances, for the volume of an image that had no disk there; else null.',
    }),
    backup_id: text.meta({
      description: 'The final backup of a datastore that was available; it is removed with the entry.',
    }),
    size_bytes: z.int().nullable().meta({ description: 'Size of the volume; null if unknown.' }),
    deleted_at: timestamp,
    expires_at: timestamp.meta({ description: 'When the data will be deleted.' }),
  })
  .meta({ id: 'TrashEntry' })
export type TrashEntry = z.output<typeof TrashEntry>

export const RestoreTrash = z
  .strictObject({
    name: optional(Name).meta({ description: 'A new name for the datastore; by default its previous name.' }),
  })
  .meta({ id: 'RestoreTrash' })
export type RestoreTrash = z.output<typeof RestoreTrash>

export const RestoredTrash = z
  .object({
    id: z.string(),
    kind: z.enum(kinds),
    name: z.string().meta({ description: 'Its name after the restore.' }),
  })
  .meta({ id: 'RestoredTrash' })
export type RestoredTrash = z.output<typeof RestoredTrash>
