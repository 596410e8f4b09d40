// What the pages of the server read.
import { queryOptions } from '@tanstack/react-query'
import type { Doctor } from '../../api/doctor.ts'
import type { ServerBackup } from '../../api/server-backup.ts'
import { get } from '../api/client.ts'

/** The feed says nothing of the host. */
export const doctorQuery = queryOptions({
  queryKey: ['doctor'],
  queryFn: get<Doctor>('/doctor'),
  refetchOnMount: 'always',
})

export const serverBackupsQuery = queryOptions({
  queryKey: ['server-backups'],
  queryFn: get<ServerBackup[]>('/server-backups'),
})
