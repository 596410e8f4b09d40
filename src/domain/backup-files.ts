// Files with the data of a datastore or a disk: their paths, and their formats by the first bytes. Pure.
import type { DatastoreKind } from './datastore-urls.ts'

export const backupFormats = {
  postgres: {
    suffix: 'dump',
    magic: 'PGDMP',
    noun: 'a custom-format archive (pg_dump -Fc) or plain SQL (pg_dump)',
  },
  redis: { suffix: 'rdb', magic: 'REDIS', noun: 'an RDB file (redis-cli --rdb)' },
} as const satisfies Record<DatastoreKind, object>

/** The backup place that is the backup directory of the server. */
export const folderPlace = 'folder'

export interface BackupFileRef {
  id: string
  /** That of the datastore, or of the service of the disk. */
  name: string
  kind: DatastoreKind | 'disk'
  /** When the backup was requested. */
  at: string
}

/** `shop-db-20260102T030405Z-9k3f2a.dump` */
export function backupFileName({ id, name, kind, at }: BackupFileRef): string {
  const stamp = at.replace(/\.\d+|[-:]/g, '')
  const suffix = kind === 'disk' ? 'tar.gz' : backupFormats[kind].suffix
  return `${name}-${stamp}-${id.slice(-6)}.${suffix}`
}

/** Where it is. Backups of earlier versions have no place: they are in the folder. */
export function backupAddress(backup: BackupFileRef & { place?: string | undefined }) {
  return { place: backup.place ?? folderPlace, name: backupObjectName(backup) }
}

/** Where the backup of that record is. */
export function recordAddress(record: {
  id: string
  kind: BackupFileRef['kind']
  datastore: string | null
  service?: string | null
  place?: string
  created_at: string
}) {
  const { id, kind, datastore, service, place, created_at: at } = record
  return backupAddress({ id, kind, name: datastore ?? service ?? '', place, at })
}

/** Its name at a backup place. */
export function backupObjectName(backup: BackupFileRef): string {
  return `${backup.name}/${backupFileName(backup)}`
}

/** In the data directory, unless an option names another place. */
export const serverBackupsFolder = 'server-backups'

/** `berth-20260102T030405Z-9k3f2a.backup.age`, with the end of the actor's id: names sort by time. */
export function serverBackupName(prefix: string, at: string, id?: string): string {
  const stamp = at.replace(/\.\d+|[-:]/g, '')
  return `${[prefix, stamp, ...(id === undefined ? [] : [id.slice(-6)])].join('-')}.backup.age`
}

export const headBytes = 512

export type DumpFormat = 'archive' | 'gzip' | 'sql'

interface DumpProblem {
  code: 'mysql_dump' | 'cluster_dump' | 'tar_archive' | 'utf16_text' | 'unknown_format'
  message: string
}

const sqlKeywords = [
  'alter|analyze|begin|call|comment|copy|create|delete|do|drop|grant|insert|lock|merge',
  'reset|revoke|select|set|start|truncate|update|with',
]
const startsWithKeyword = new RegExp(`^(${sqlKeywords.join('|')})\\b`, 'i')

const problems: [RegExp, DumpProblem['code'], string][] = [
  [
    /^(\xff\xfe|\xfe\xff)/,
    'utf16_text',
    'is UTF-16 text (PowerShell writes it for ">"; use pg_dump -f FILE)',
  ],
  [
    /^(-- (mysql|mariadb|phpmyadmin)|\/\*(!\d|m!))|^-- (mysql|mariadb) dump|engine=innodb/im,
    'mysql_dump',
    'is from MySQL or MariaDB',
  ],
  [/^-- PostgreSQL database cluster dump/m, 'cluster_dump', 'contains a whole server (pg_dumpall)'],
  [/^toc\.dat\0/, 'tar_archive', 'is a tar archive (pg_dump -Ft)'],
]

/** Catches mistakes early. `head` has the first 512 bytes, or the whole file if it is shorter. */
export function formatOf(head: Buffer): DumpFormat | DumpProblem {
  const text = head.subarray(0, headBytes).toString('latin1')
  if (text.startsWith('PGDMP')) return 'archive'
  if (text.startsWith('\x1f\x8b\x08')) return 'gzip'
  const problem = problems.find(([pattern]) => pattern.test(text))
  if (problem) return { code: problem[1], message: problem[2] }
  const start = text.replace(/^\xef\xbb\xbf/, '').trimStart()
  const isSql = /^(--|\/\*|\\)/.test(start) || startsWithKeyword.test(start)
  if (isSql && !text.includes('\0')) return 'sql'
  return { code: 'unknown_format', message: 'has an unknown format' }
}
