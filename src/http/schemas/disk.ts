// Disks: the volumes of services, also of services that are gone (decisions "Service").
import { z } from 'zod'

export const Disk = z
  .object({
    name: z.string().meta({ description: 'Of the Docker volume.' }),
    service_id: z.string(),
    service_name: z.string().meta({ description: 'What the service was called when the disk was made.' }),
    kept: z.boolean().meta({
      description: 'Whether its service was deleted; `docker volume rm` removes the disk, with its data.',
    }),
  })
  .meta({ id: 'Disk' })
export type Disk = z.output<typeof Disk>
