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
    name: z.string().meta({ description: 'Name of the Docker volume.' }),
    service_id: z.string(),
    service_name: z.string().meta({ description: 'Name of the service when the disk was created.' }),
    kept: z.boolean().meta({
      description: 'Whether the service was deleted. Only then can DELETE /disks/{name} delete the disk.',
    }),
  })
  .meta({ id: 'Disk' })
export type Disk = z.output<typeof Disk>
