// The input of a restore, and how it runs commands: in the datastore's own container, with retries while that
// is unavailable.
import type { RestoreSlot } from '../../../machines/restore.ts'
import { sleep } from '../../async/sleep.ts'
import type { Command } from '../../docker/exec/exec.ts'
import { backupPath } from '../../domain/backup-names.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { waitUntilServing } from '../backup/dump.ts'
import { type Datastore, maskPassword } from '../datastore/access.ts'
import type { RestorePorts } from './ports.ts'

/** Replaces the data of one kind of datastore, completely or not at all. Each step is idempotent. */
export interface Restorer {
  /** Loads the data next to the existing data, or verifies that they can be loaded. */
  load(ports: RestorePorts, datastore: Datastore, work: RestoreWork, signal: AbortSignal): Promise<void>
  /** Switches to the new data at one moment. If that has happened already, it does nothing. */
  switchOver(ports: RestorePorts, datastore: Datastore, work: RestoreWork, signal: AbortSignal): Promise<void>
  /** Removes the former data. */
  tidy(ports: RestorePorts, datastore: Datastore, work: { id: string }, signal: AbortSignal): Promise<void>
  /** Removes the loaded data. A completed switch is not undone. */
  undo(ports: RestorePorts, datastore: Datastore, work: { id: string }, signal: AbortSignal): Promise<void>
}

export interface RestoreWork {
  /** The id of the restore. */
  id: string
  path: string
  sizeBytes: number
}

const commandTimeoutMs = 10 * 60_000
const firstPauseMs = 250
const maxPauseMs = 30_000

/** Throws `not_found` if the backup no longer exists. */
export function workOf({ storage, settings }: RestorePorts, { id, backupId }: RestoreSlot): RestoreWork {
  const sizeBytes = storage.actors.record<'restore'>(id)!.size_bytes
  if (backupId === null) return { id, path: storage.restoreFiles.path(id), sizeBytes }
  const backup = storage.actors.record<'backup'>(backupId)
  if (backup?.status !== 'good') throw new Failure('not_found', `the backup ${backupId} is gone`)
  const { datastore: datastoreName, kind, created_at: at } = backup
  const dumpFile = { id: backupId, datastoreName, kind, at }
  return { id, path: backupPath(settings.backupDir, dumpFile), sizeBytes }
}

/** In the datastore's container. Returns its output. Throws `restore_failed` with its error output. */
export async function runCommand(
  ports: RestorePorts,
  { name, credentials }: Datastore,
  command: Command,
  signal: AbortSignal,
): Promise<string> {
  const { exitCode, stdout, stderr } = await ports.datastores.run(name, command, {
    signal,
    timeoutMs: commandTimeoutMs,
  })
  const errorOutput = maskPassword(stderr.trim(), credentials)
  if (exitCode !== 0)
    throw new Failure('restore_failed', errorOutput.split('\n').at(-1) || `exit code ${exitCode}`)
  return stdout.trim()
}

/** Repeats idempotent work until it succeeds or the datastore no longer exists. */
export async function retryUntilDone(
  ports: RestorePorts,
  { id, datastoreId }: RestoreSlot,
  signal: AbortSignal,
  work: (datastore: Datastore) => Promise<void>,
): Promise<void> {
  let logged: string | null = null
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    try {
      return await work(await waitUntilServing(ports, datastoreId, signal))
    } catch (error) {
      signal.throwIfAborted()
      if (isMissing(ports, datastoreId)) return
      const reason = messageOf(error)
      if (reason !== logged) ports.logger.warn({ restore: id, reason }, 'a restore is not over yet')
      logged = reason
      await sleep(pauseMs, signal)
    }
  }
}

/** One in the trash, or on its way there, still exists: it may be restored, and changes wait until then. */
export function isMissing({ storage }: Pick<RestorePorts, 'storage'>, datastoreId: string): boolean {
  const record = storage.actors.record(datastoreId)
  const isDeleted = record?.status === 'deleting' || record?.status === 'deleted'
  return record === null || (isDeleted && !record.trash)
}

/** Whether the datastore was unavailable, so that a retry may succeed. */
export function isTransient(error: unknown): boolean {
  return ['docker_error', 'docker_unavailable'].includes(codeOf(error) ?? '')
}
