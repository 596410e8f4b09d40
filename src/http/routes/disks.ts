// The disks of services, which outlive them.
import { z } from 'zod'
import { DeleteDiskQuery, Disk, DiskParams } from '../../api/disk.ts'
import * as disks from '../handlers/data/disks.ts'
import { route, tagged, v1 } from '../pipeline/route.ts'

export const diskRoutes = tagged('Disks', [
  route({
    method: 'GET',
    path: `${v1}/disks`,
    role: 'read',
    summary: 'Lists the disks of services, including those of deleted services',
    response: z.array(Disk),
    problems: ['docker_unavailable', 'docker_error'],
    handler: disks.listDisks,
  }),
  route({
    method: 'DELETE',
    path: `${v1}/disks/{name}`,
    summary: 'Moves the disk of a deleted service to the trash',
    params: DiskParams,
    query: DeleteDiskQuery,
    problems: ['conflict', 'in_use', 'docker_unavailable', 'docker_error'],
    handler: disks.deleteDisk,
  }),
])
