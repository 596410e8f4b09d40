// The effects of a backup of the server. It is made by a process of its own (`berthd backup`), which encrypts
// without delaying requests; here it is read back, kept, and removed.
import { spawn } from 'node:child_process'
import type {
  DataPart,
  FileFacts,
  FileSlot,
  FreshData,
  machine,
  WrittenFile,
} from '../../../machines/server-backup.ts'
import type { Effects } from '../../../machines/slot.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import { listServerBackups } from '../../domain/server-backups.ts'
import { Failure, messageOf } from '../../errors.ts'
import { measured } from '../../object-storage/measured.ts'
import { putPushed } from '../../object-storage/pushed.ts'
import type { BackupPlaces } from '../backup-place/backup-places.ts'
import { guardDirectory } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import { bind } from '../ports.ts'
import { type CleanupPorts, retryUntilCleanedUp } from '../waiting.ts'
import { backUpData, discardData, type FreshDataPorts } from './fresh-data.ts'

export interface ServerBackupPorts extends FreshDataPorts, CleanupPorts {
  settings: FreshDataPorts['settings'] & { minFreeDiskMb: number }
  serverBackups: ServerBackupSettings
}

export interface ServerBackupSettings {
  /** Null without a schedule. */
  schedule: string | null
  directory: string
  /** Where new ones go. */
  place: string
  /** The places of datastores, but for the folder. */
  places: BackupPlaces
  /** What its schedule backs up first. */
  freshData: FreshData[]
  prefix: string
  keepCount: number
  /** 0 for no limit. */
  keepDays: number
}

export function serverBackupEffects(ports: ServerBackupPorts): Effects<typeof machine> {
  return bind(ports, { writeBackup, checkBackup, pruneBackups, discardFile, removeFile })
}

/** The place may be unreachable for a while. */
async function removeFile(
  ports: ServerBackupPorts,
  { id, file, place = folderPlace }: FileSlot,
  signal: AbortSignal,
) {
  const { places } = ports.serverBackups
  const work = async () => {
    // A place that was removed keeps its objects.
    if (places.has(place)) await places.open(place).remove(file, signal)
  }
  await retryUntilCleanedUp(ports, id, signal, work, () => true)
}

/** A bucket that cannot be reached must not hide the failure. */
async function discardFile(ports: ServerBackupPorts, input: FileSlot, signal: AbortSignal) {
  const { id, file, place = folderPlace } = input
  if (place === folderPlace) return removeFile(ports, input, signal)
  const { places } = ports.serverBackups
  try {
    if (places.has(place)) await places.open(place).remove(file, signal)
  } catch (error) {
    signal.throwIfAborted()
    ports.logger.warn(
      { actor: id, place, reason: messageOf(error) },
      'a failed backup of the server may have left parts',
    )
  }
}

async function writeBackup(
  ports: ServerBackupPorts,
  input: FileSlot,
  signal: AbortSignal,
): Promise<Omit<WrittenFile, 'at'>> {
  const { id, freshData = [] } = input
  if (freshData.length === 0) return { ...(await writeFile(ports, input, [], signal)), data: [] }
  try {
    const data = await backUpData(ports, freshData, signal)
    return { ...(await writeFile(ports, input, data, signal)), data }
  } finally {
    await discardData(ports, id)
  }
}

async function writeFile(
  ports: ServerBackupPorts,
  { file, place = folderPlace }: FileSlot,
  data: DataPart[],
  signal: AbortSignal,
): Promise<Omit<WrittenFile, 'at' | 'data'>> {
  const { dataDir } = ports.settings
  const { directory, prefix, places } = ports.serverBackups
  const store = places.open(place)
  const args = ['backup', '-', '--data-dir', dataDir, '--prefix', prefix, '--for-daemon']
  if (data.length > 0) args.push(`--data=${JSON.stringify(data)}`)
  const write = async (bound: AbortSignal) => {
    let keyFingerprint = ''
    const facts = await putPushed(
      (content) => store.put(file, content, bound),
      async (push) => {
        keyFingerprint = await runOwnProgram(args, push, bound)
      },
    )
    return { ...facts, keyFingerprint }
  }
  if (place !== folderPlace) return write(signal)
  return guardDirectory(ports, { what: 'a backup of the server', directory }, signal, write)
}

/**
 * Pushes the backup, and resolves with the fingerprint of its key. The process ends when its standard input
 * does, so that none outlives a killed daemon.
 */
async function runOwnProgram(
  args: string[],
  push: (piece: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted()
  const program = [...process.execArgv, process.argv[1]!, ...args]
  const child = spawn(process.execPath, program, { signal, killSignal: 'SIGKILL', stdio: 'pipe' })
  child.stdin.on('error', () => undefined)
  let said = ''
  child.stderr.on('data', (text: Buffer) => {
    said = (said + text.toString('utf8')).slice(-2000)
  })
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', (error) => child.pid === undefined && reject(error))
    child.once('close', (code) => {
      if (signal.aborted) return reject(signal.reason)
      const key = /^key (\w+)$/m.exec(said)
      if (code === 0 && key) return resolve(key[1]!)
      const [, known, message] = /^berthd: (?:\[(\w+)\] )?(.*)$/m.exec(said) ?? []
      reject(new Failure(known ?? 'backup_failed', message ?? `berthd backup ended with ${code}`))
    })
  })
  ended.catch(() => undefined)
  try {
    for await (const piece of child.stdout) await push(piece)
  } catch (error) {
    child.kill('SIGKILL')
    await ended.catch(() => undefined)
    throw error
  }
  return ended
}

async function checkBackup(
  { serverBackups: { places } }: ServerBackupPorts,
  { file, place = folderPlace, ...wanted }: FileSlot & FileFacts,
  signal: AbortSignal,
) {
  const { content, facts } = measured((await places.open(place).get(file, signal)).content)
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
