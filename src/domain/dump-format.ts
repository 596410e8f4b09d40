// The format of a file for a Postgres restore, detected from its first bytes. Pure.
// This catches mistakes early. The statements of an SQL file are checked separately, before the restore.

/** The number of bytes needed for the detection. */
export const headBytes = 512

export type DumpFormat = 'archive' | 'gzip' | 'sql'

export interface DumpProblem {
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

/** `head` has the first 512 bytes, or the whole file if it is shorter. */
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
