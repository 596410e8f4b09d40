// The disks of services, which outlive them.
import { z } from 'zod'
import { HistoryEntry } from '../../api/deploy.ts'
import { ChownDisk, DeleteDiskQuery, Disk, DiskChown, DiskParams } from '../../api/disk.ts'
import * as chowns from '../handlers/data/disk-chowns.ts'
import * as disks from '../handlers/data/disks.ts'
import { del, get, post, tagged } from '../pipeline/route.ts'

export const diskRoutes = tagged('Disks', [
  get('/disks', {
    role: 'read',
    summary: 'Lists the disks of services, including those of deleted services',
    response: z.array(Disk),
    problems: ['docker_unavailable', 'docker_error'],
    handler: disks.listDisks,
  }),
  del('/disks/{name}', {
    summary: 'Moves the disk of a deleted service to the trash',
    params: DiskParams,
    query: DeleteDiskQuery,
    problems: ['conflict', 'in_use', 'docker_unavailable', 'docker_error'],
    handler: disks.deleteDisk,
  }),
  post('/disks/{name}/chown', {
    summary: 'Gives all files of a disk to another user',
    description:
      'Gives all files of a disk to another user, also while instances run. Links are changed themselves, ' +
      'not what they lead to.',
    params: DiskParams,
    body: ChownDisk,
    response: DiskChown,
    status: 202,
    replay: chowns.readChown,
    problems: ['conflict', 'docker_unavailable', 'docker_error'],
    handler: chowns.chownDisk,
  }),
  get('/disks/{name}/chown', {
    role: 'read',
    summary: 'Returns the newest change of the owner of a disk; it is kept for 30 days',
    params: DiskParams,
    response: DiskChown,
    handler: ({ context, params }) => chowns.findChown(context, params.name),
  }),
  get('/disks/{name}/chown/history', {
    role: 'read',
    summary: 'Lists the transitions of the newest change of the owner of a disk',
    params: DiskParams,
    response: z.array(HistoryEntry),
    handler: ({ context, params }) =>
      context.storage.actors.history(chowns.findChown(context, params.name).id),
  }),
])
