// Modes and owners of the files in the data directory that no other user may read.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'
import { modeOf, userOf } from './process.ts'

const names = [
  '',
  'secret_key',
  'api_token',
  'setup_code',
  'store',
  'store/data.mdb',
  'certificates',
  'backups',
]

export async function checkFiles({ config, pid }: Examined): Promise<Finding[] | string> {
  const directory = config['data-dir']
  const root = await stat(directory).catch(() => null)
  if (root === null) return [finding('data_directory_missing', { path: directory })]
  const user = (pid === null ? null : await userOf(pid)) ?? root.uid
  const secretFile = config['acme-dns-secret-file']
  const paths = names.map((name) => join(directory, name))
  const found = await Promise.all(
    [...paths, ...(secretFile ? [secretFile] : [])].map((path) => faultsOf(path, user)),
  )
  const missing = (await stat(join(directory, 'secret_key')).catch(() => null)) === null
  const faults = [
    ...found.flat(),
    ...(missing ? [finding('key_missing', { path: join(directory, 'secret_key') })] : []),
  ]
  return faults.length > 0 ? faults : `${directory} and its secrets belong to user ${user} only`
}

async function faultsOf(path: string, user: number): Promise<Finding[]> {
  const file = await stat(path).catch(() => null)
  if (file === null) return []
  const mode = file.isDirectory() ? 700 : 600
  return [
    ...((file.mode & 0o077) !== 0 ? [finding('file_exposed', { path, found: modeOf(file.mode), mode })] : []),
    ...(file.uid !== user ? [finding('file_owner', { path, uid: file.uid, user })] : []),
  ]
}
