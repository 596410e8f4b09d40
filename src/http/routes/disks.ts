// The disks of services, which outlive them.
import { z } from 'zod'
import { DeleteDiskQuery, Disk, DiskParams } from '../../api/disk.ts'
import * as disks from '../handlers/disks.ts'
import { route, tagged, v1 } from '../pipeline/route.ts'

export const diskRoutes = tagged('Disks', [
  route({
    method: 'GET',
    path: `${v1}/disks`,
    role: 'read',
    summary: 'The disks of services, also those that were kept when their service was deleted',
    answer: z.array(Disk),
    problems: ['docker_unavailable', 'docker_error'],
    handler: disks.listDisks,
  }),
  route({
    method: 'DELETE',
    path: `${v1}/disks/{name}`,
    summary: 'Deletes the disk of a service that was deleted; it goes to the trash first',
    params: DiskParams,
    query: DeleteDiskQuery,
    problems: ['conflict', 'in_use', 'docker_unavailable', 'docker_error'],
    handler: disks.deleteDisk,
  }),
])
