// The trash: deleted datastores and disks until their time is over.
import { z } from 'zod'
import { RestoredTrash, RestoreTrash, TrashEntry, TrashParams } from '../../api/trash.ts'
import * as trash from '../handlers/data/trash.ts'
import { del, get, post, tagged } from '../pipeline/route.ts'

export const trashRoutes = tagged('Trash', [
  get('/trash', {
    role: 'read',
    summary: 'Lists deleted datastores and disks that can be restored, newest first',
    response: z.array(TrashEntry),
    handler: trash.listTrash,
  }),
  post('/trash/{id}/restore', {
    summary: 'Restores a datastore with its id, settings, password and data, or a disk without a service',
    params: TrashParams,
    body: RestoreTrash,
    response: RestoredTrash,
    problems: ['conflict', 'name_taken'],
    replay: trash.replayRestoreTrash,
    handler: trash.restoreTrash,
  }),
  del('/trash/{id}', {
    summary: 'Removes an entry immediately, with its data and its final backup',
    params: TrashParams,
    problems: ['conflict'],
    handler: trash.purgeTrash,
  }),
])
