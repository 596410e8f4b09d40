// The disks of services, which outlive them.
import { z } from 'zod'
import * as disks from '../handlers/disks.ts'
import { route, tagged, v1 } from '../route.ts'
import { Disk } from '../schemas/disk.ts'

export const diskRoutes = tagged('Disks', [
  route({
    method: 'GET',
    path: `${v1}/disks`,
    role: 'read',
    summary: 'The disks of services, also those that were kept when their service was deleted',
    answer: z.array(Disk),
    handler: disks.listDisks,
  }),
])
