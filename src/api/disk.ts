// Disks: the volumes of services, including deleted services.
import { z } from 'zod'
import { identifier, purge } from './parts/fields.ts'

export const DiskParams = z.object({
  name: identifier.meta({ description: 'Name of the Docker volume of a disk.' }),
})
export type DiskParams = z.output<typeof DiskParams>

export const DeleteDiskQuery = z.strictObject({ purge })
export type DeleteDiskQuery = z.output<typeof DeleteDiskQuery>

export const Disk = z
  .object({
    name: z.string().meta({ description: 'Of the Docker volume.' }),
    service_id: z.string(),
    service_name: z.string().meta({ description: 'What the service was called when the disk was made.' }),
    kept: z.boolean().meta({
      description: 'Whether its service was deleted; only then DELETE /disks/{name} deletes the disk.',
    }),
  })
  .meta({ id: 'Disk' })
export type Disk = z.output<typeof Disk>
