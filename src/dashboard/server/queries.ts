// What the pages of the server read.
import { queryOptions } from '@tanstack/react-query'
import type { AuditEntry } from '../../api/audit.ts'
import type { BackupPlace } from '../../api/backup-place.ts'
import type { Doctor } from '../../api/doctor.ts'
import type { GitConnection } from '../../api/git-connection.ts'
import type { GitHook, Delivery as HookDelivery } from '../../api/hook.ts'
import type { Channel, Delivery } from '../../api/notification.ts'
import type { ServerBackup } from '../../api/server-backup.ts'
import { get } from '../api/client.ts'
import { listQuery } from '../api/list.ts'

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

export const placesQuery = queryOptions({
  queryKey: ['backup-places'],
  queryFn: get<BackupPlace[]>('/backup-places'),
})

export const channelsQuery = queryOptions({
  queryKey: ['notifications', 'channels'],
  queryFn: get<Channel[]>('/notification-channels'),
})

export const deliveriesQuery = listQuery<Delivery>(
  ['notifications', 'deliveries'],
  '/notification-deliveries',
)

export const gitConnectionsQuery = queryOptions({
  queryKey: ['git-connections'],
  queryFn: get<GitConnection[]>('/git/connections'),
})

/** It has a secret, which is forgotten when nothing shows it. */
export function gitHookQuery(connectionId: string) {
  return queryOptions({
    queryKey: ['git-connections', connectionId, 'hook'],
    queryFn: get<GitHook>(`/git/connections/${connectionId}/hook`),
    gcTime: 0,
  })
}

/** The feed says nothing of them: they are read again when the user returns from the provider. */
export function otherDeliveriesQuery(connectionId: string) {
  return queryOptions({
    queryKey: ['git-connections', connectionId, 'other deliveries'],
    queryFn: get<HookDelivery[]>(`/git/connections/${connectionId}/deliveries`),
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  })
}

export interface AuditFilter {
  actor?: string
  action?: string
  subject?: string
}

/** The feed says nothing of the audit log. */
export const auditQuery = (filter: AuditFilter) => ({
  ...listQuery<AuditEntry>(['audit', filter], '/audit', { ...filter }),
  refetchOnMount: 'always' as const,
})
