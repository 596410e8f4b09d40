import type { OneShotContainers } from '../../docker/containers/one-shot-containers.ts'
import type { BackupPlaces } from '../backup-place/backup-places.ts'
import type { DatastoreImages } from '../datastore/kind.ts'
import type { FreeDiskSettings } from '../disk/disk.ts'
import type { DefaultLimits, EnginePorts } from '../engine/ports.ts'
import type { SharedPorts } from '../ports.ts'

export interface BackupPorts extends SharedPorts, ToolPorts, TransferPorts, EnginePorts {
  settings: BackupSettings
  places: BackupPlaces
}

export interface BackupSettings extends ToolSettings, FreeDiskSettings {
  backupDir: string
}

export interface ToolPorts {
  tools: OneShotContainers
  settings: ToolSettings
}

export interface ToolSettings extends DatastoreImages, DefaultLimits {}

export interface TransferPorts {
  progress: TransferProgress
}

/** How far the current phase of running backups and restores is, by their id. */
export type TransferProgress = Map<string, { doneBytes: number; totalBytes: number | null }>
