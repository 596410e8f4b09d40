// The first entry of a backup says what it is a backup of, and what follows.
import { Failure } from '../errors.ts'

export const manifestName = 'manifest.json'
/** A version of Berth reads backups of its own format and of earlier ones. */
export const backupFormat = 1

export interface Manifest {
  format: number
  berth_version: string
  store_schema: number
  server_id: string
  prefix: string
  /** RFC 3339: when the store was copied, which is the moment that the backup shows. */
  created_at: string
  /** Top-level files and folders. Logs may be longer than the store knows. */
  parts: { name: string; copied_at: string; files: number; size_bytes: number }[]
  /** The datastores and disks that were backed up for it, with the moment of each; missing without them. */
  data?: unknown
}

/** Throws `backup_invalid` and `backup_too_new`. */
export function parseManifest(text: string): Manifest {
  const manifest = parseJson(text) as Partial<Manifest> | null
  if (typeof manifest?.format !== 'number') throw notOfBerth()
  if (manifest.format > backupFormat) throw tooNew(manifest.berth_version ?? 'a later version')
  const isWhole = typeof manifest.created_at === 'string' && Array.isArray(manifest.parts)
  if (!isWhole || typeof manifest.store_schema !== 'number') throw notOfBerth()
  return manifest as Manifest
}

export function notOfBerth(): Failure {
  return new Failure(
    'backup_invalid',
    'this is not a backup of a Berth server, or its first bytes were changed',
    'berthd backup writes one; a backup of a datastore is restored by berth db restore',
  )
}

export function tooNew(version: string): Failure {
  return new Failure(
    'backup_too_new',
    `Berth ${version} wrote this backup, and this version cannot read it`,
    `install Berth ${version} and run the command again`,
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
