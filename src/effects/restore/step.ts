// One step of a restore: what it needs, its file, and its commands in the datastore's own container.
import { basename, dirname } from 'node:path'
import type { DatastoreRestoreSlot, RestoreSlot } from '../../../machines/restore.ts'
import type { Datastores } from '../../docker/containers/datastores.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import type { Command } from '../../docker/exec/exec.ts'
import { recordAddress } from '../../domain/backup-files.ts'
import { Failure } from '../../errors.ts'
import { openFolder } from '../../object-storage/folder.ts'
import type { StoredObject } from '../../object-storage/object-store.ts'
import { reported } from '../backup/file.ts'
import type { ToolPorts, ToolSettings, TransferPorts } from '../backup/ports.ts'
import type { BackupPlaces } from '../backup-place/backup-places.ts'
import { type Datastore, runInDatastore } from '../datastore/access.ts'
import type { FreeDiskSettings } from '../disk/disk.ts'
import type { EnginePorts } from '../engine/ports.ts'
import type { LogCollector } from '../logs/log-collector.ts'
import type { SharedPorts } from '../ports.ts'

export interface RestorePorts extends SharedPorts, EnginePorts, ToolPorts, TransferPorts {
  datastores: Datastores
  instances: Instances
  places: BackupPlaces
  logCollector: LogCollector
  settings: ToolSettings & FreeDiskSettings & { trashDays: number }
}

export interface RestoreStep {
  ports: RestorePorts
  datastore: Datastore
  input: DatastoreRestoreSlot
  signal: AbortSignal
}

/** Replaces the data of one kind of datastore, completely or not at all. Each step is idempotent. */
export interface Restorer {
  /** Loads the data next to the existing data, or verifies that they can be loaded. */
  load(step: RestoreStep): Promise<void>
  /** Switches to the new data at one moment. If that has happened already, it does nothing. */
  switchOver(step: RestoreStep): Promise<void>
  tidy(step: RestoreStep): Promise<void>
  /** Removes the loaded data. A completed switch is not undone. */
  undo(step: RestoreStep): Promise<void>
}

const commandTimeoutMs = 10 * 60_000

/** An uploaded file, or a backup. Throws `not_found` if the backup no longer exists. */
export async function openRestoreFile(
  { storage, places }: Pick<RestorePorts, 'storage' | 'places'>,
  { id, backupId }: RestoreSlot,
  signal: AbortSignal,
): Promise<StoredObject> {
  if (backupId === null) {
    const path = storage.restoreFiles.path(id)
    return openFolder({ directory: dirname(path), isOwn: false }).get(basename(path), signal)
  }
  const backup = storage.actors.record<'backup'>(backupId)
  if (backup?.status !== 'good') throw new Failure('not_found', `the backup ${backupId} is gone`)
  const { place, name } = recordAddress(backup)
  return places.open(place).get(name, signal)
}

export async function* readRestoreFile({ ports, input, signal }: RestoreStep): AsyncGenerator<Uint8Array> {
  yield* reported(ports, input.id, await openRestoreFile(ports, input, signal))
}

export function runCommand({ ports, datastore, signal }: RestoreStep, command: Command): Promise<string> {
  return runInDatastore(ports, datastore, command, {
    code: 'restore_failed',
    timeoutMs: commandTimeoutMs,
    signal,
  })
}
