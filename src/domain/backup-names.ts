// Paths, suffixes and magic bytes of backup files. Pure.
import { join } from 'node:path'
import type { DatastoreKind } from './datastore-urls.ts'

export const backupFormats = {
  postgres: {
    suffix: 'dump',
    magic: 'PGDMP',
    noun: 'a custom-format archive (pg_dump -Fc) or plain SQL (pg_dump)',
  },
  redis: { suffix: 'rdb', magic: 'REDIS', noun: 'an RDB file (redis-cli --rdb)' },
} as const satisfies Record<DatastoreKind, object>

export interface BackupFileRef {
  id: string
  datastoreName: string
  kind: DatastoreKind
  /** When the backup was requested. */
  at: string
}

/** `shop-db-20260102T030405Z-9k3f2a.dump` */
export function backupFileName({ id, datastoreName, kind, at }: BackupFileRef): string {
  const stamp = at.replace(/\.\d+|[-:]/g, '')
  return `${datastoreName}-${stamp}-${id.slice(-6)}.${backupFormats[kind].suffix}`
}

export function backupPath(directory: string, place: BackupFileRef): string {
  return join(directory, place.datastoreName, backupFileName(place))
}
