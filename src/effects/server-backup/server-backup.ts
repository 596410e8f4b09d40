// The effects of a backup of the server. It is made by a process of its own (`berthd backup`), which encrypts
// without delaying requests; here it is read back, kept, and removed.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { FileFacts, FileSlot, machine, WrittenFile } from '../../../machines/server-backup.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { Storage } from '../../../storage/index.ts'
import { Failure, messageOf } from '../../errors.ts'
import { measured } from '../../object-storage/measured.ts'
import type { ObjectStore } from '../../object-storage/object-store.ts'
import { guardDirectory } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import { bind, type SharedPorts } from '../ports.ts'
import { type CleanupPorts, retryUntilCleanedUp } from '../waiting.ts'

export interface ServerBackupPorts extends SharedPorts, CleanupPorts {
  settings: { dataDir: string; minFreeDiskMb: number }
  serverBackups: ServerBackupSettings
}

export interface ServerBackupSettings {
  /** Null without a schedule. */
  schedule: string | null
  directory: string
  store: ObjectStore
  prefix: string
  keepCount: number
  /** 0 for no limit. */
  keepDays: number
}

export function serverBackupEffects(ports: ServerBackupPorts): Effects<typeof machine> {
  const remove = async ({ id, file }: FileSlot, signal: AbortSignal) => {
    const work = () => ports.serverBackups.store.remove(file, signal)
    // The folder may be missing or unwritable for a while.
    await retryUntilCleanedUp(ports, id, signal, work, () => true)
  }
  const bound = bind(ports, { writeBackup, checkBackup, pruneBackups })
  return { ...bound, discardFile: remove, removeFile: remove }
}

/** The last line that the process prints. */
export interface BackupReport extends FileFacts {
  keyFingerprint: string
}

async function writeBackup(
  ports: ServerBackupPorts,
  { file }: FileSlot,
  signal: AbortSignal,
): Promise<Omit<WrittenFile, 'at'>> {
  const { dataDir } = ports.settings
  const { directory, prefix } = ports.serverBackups
  const args = ['backup', `${directory}/${file}`, '--data-dir', dataDir, '--prefix', prefix, '--for-daemon']
  const guarded = { what: 'a backup of the server', directory }
  return guardDirectory(ports, guarded, signal, (bound) => runOwnProgram(args, bound))
}

/** The process ends when its standard input does, so that none outlives a killed daemon. */
function runOwnProgram(args: string[], signal: AbortSignal): Promise<BackupReport> {
  signal.throwIfAborted()
  const program = [...process.execArgv, process.argv[1]!, ...args]
  const child = spawn(process.execPath, program, { signal, killSignal: 'SIGKILL', stdio: 'pipe' })
  child.stdin.on('error', () => undefined)
  let last = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line
  })
  let complaint = ''
  child.stderr.on('data', (text: Buffer) => {
    complaint = (complaint + text.toString('utf8')).slice(-2000)
  })
  return new Promise((resolve, reject) => {
    child.on('error', (error) => child.pid === undefined && reject(error))
    child.once('close', (code) => {
      if (signal.aborted) return reject(signal.reason)
      if (code === 0) return resolve(JSON.parse(last))
      const [, known, message] = /^berthd: (?:\[(\w+)\] )?(.*)$/m.exec(complaint) ?? []
      reject(new Failure(known ?? 'backup_failed', message ?? `berthd backup ended with ${code}`))
    })
  })
}

async function checkBackup(
  { serverBackups: { store } }: ServerBackupPorts,
  { file, ...wanted }: FileSlot & FileFacts,
  signal: AbortSignal,
) {
  const { content, facts } = measured((await store.get(file, signal)).content)
  for await (const _ of content) signal.throwIfAborted()
  const { sizeBytes, sha256 } = facts()
  if (sizeBytes === wanted.sizeBytes && sha256 === wanted.sha256) return {}
  throw new Failure('backup_failed', 'the backup read back differs from what was written')
}

/** Backups that were asked for stay until they are deleted. */
async function pruneBackups(
  { storage, actors, serverBackups, logger }: ServerBackupPorts,
  { id }: { id: string },
) {
  const { keepCount, keepDays } = serverBackups
  const oldest = keepDays === 0 ? '' : new Date(Date.now() - keepDays * 24 * 60 * 60_000).toISOString()
  const scheduled = listServerBackups(storage).filter(
    ({ trigger, status }) => trigger === 'schedule' && status === 'stored',
  )
  const surplus = scheduled.filter(({ created_at }, index) => index >= keepCount || created_at < oldest)
  for (const backup of surplus) {
    // The newest is never removed, however old it is.
    if (backup.id === id || backup.id === scheduled[0]?.id) continue
    const event = { type: 'delete', at: isoNow(), by: 'the retention of backups of the server' }
    await actors
      .send(backup.id, event)
      .catch((error: unknown) =>
        logger.warn({ backup: backup.id, reason: messageOf(error) }, 'it was not deleted'),
      )
  }
}

/** The newest first. Deleted ones are final, so they are not active actors. */
export function listServerBackups({ actors }: Pick<Storage, 'actors'>) {
  const ids = [...actors.active('server-backup')].map(({ id }) => id).sort()
  return ids.reverse().flatMap((id) => actors.record<'server-backup'>(id) ?? [])
}
