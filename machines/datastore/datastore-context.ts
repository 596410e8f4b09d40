// Input, context and slots of a datastore: plain JSON.
// The password is never in here. Effects read it from the secret store by id.
import type { Problem } from '../problem.ts'
import { type SlotInput, type SlotOutput, slot } from '../slot.ts'

export type DatastoreKind = 'postgres' | 'redis'

/** Null means the server's default. */
export interface DatastoreLimits {
  memoryMb: number | null
  cpus: number | null
}

export interface BackupPlan {
  /** A cron schedule in UTC; null for never. */
  schedule: string | null
  keep: number
  /** Older scheduled backups are removed, too; without it, of any age stay. */
  keepDays?: number | null
  /** The name of a backup place; without it, that of the server. */
  place?: string | null
}

export interface DatastoreInput extends DatastoreLimits {
  id: string
  name: string
  kind: DatastoreKind
  /** The version of Postgres or Redis, as in the image tag. */
  version: string
  /** Null for Redis. */
  database: string | null
  username: string
  backups: BackupPlan
  at: string
}

export type DatastoreEvent =
  | ({ type: 'limits.set'; at: string; by: string } & Partial<DatastoreLimits>)
  | ({ type: 'backups.set'; at: string; by: string } & Partial<BackupPlan>)
  | { type: 'restart'; at: string; by: string }
  | { type: 'upgrade'; at: string; by: string; plan: UpgradePlan }
  | { type: 'upgrade.cancel'; at: string; by: string }
  | { type: 'delete'; at: string; by: string; keep: TrashPlan | null }
  | { type: 'reclaim'; at: string; by: string; name: string }

/** What a deletion keeps in the trash; null for nothing. */
export interface TrashPlan {
  expiresAt: string
  backupId: string
}

/** A deleted datastore: its volume stays until `expiresAt`. */
export interface Trash {
  deletedAt: string
  expiresAt: string
  /** The id of the final backup; null without one. */
  backupId: string | null
  /** The size of the volume; null if unknown. */
  sizeBytes: number | null
  /** The name after the restore. */
  wantedName: string | null
  /** Why the restore failed. */
  trouble: Problem | null
}

export interface VersionOnVolume {
  version: string
  volume: string
}

export interface UpgradePlan {
  id: string
  from: VersionOnVolume
  to: VersionOnVolume
  /** The removal of the volume of `from`, and when it ends; null for immediately. */
  removal: { id: string; expiresAt: string | null }
  /** For a return: the removal that keeps the volume of `to`. Null for an upgrade. */
  keptBy: string | null
}

export interface DatastoreContext extends DatastoreInput {
  hostPort: number | null
  /** How often the limits were set, and the last revision that was applied or refused. */
  limitsRevision: number
  limitsSettled: number
  limitsTrouble: Problem | null
  notice: string | null
  /** Whether a start was attempted. Until the first success, its leftovers are incomplete. */
  wasBegun: boolean
  /** Whether it ever served. It is then restarted instead of created. */
  hasServed: boolean
  /** The next backup is the first one that was due after this. */
  backupsSince: string
  dueBackupId: string | null
  /** Null unless the datastore is deleted. */
  trash: Trash | null
  /** The newest upgrade or return. `finishedAt` is null while it runs. */
  upgrade: (UpgradePlan & { startedAt: string; finishedAt: string | null; error: Problem | null }) | null
  /** The version before the newest switch, whose volume a removal keeps for a while. */
  former: (VersionOnVolume & { removalId: string; switchedAt: string }) | null
  phase:
    | 'pulling'
    | 'stopping'
    | 'starting'
    | 'probing'
    | 'saving'
    | 'checking'
    | 'copying'
    | 'switching'
    | null
  error: Problem | null
  /** Attempts in a row that failed. */
  failures: number
  retryAt: number | null
  updatedAt: string
}

export interface DatastoreSlot extends SlotInput {
  kind: DatastoreKind
  version: string
}

export interface UpgradeSlot extends DatastoreSlot {
  upgrade: UpgradePlan
}

export const slots = {
  obtainImage: slot<DatastoreSlot, SlotOutput>(),
  stopDatastore: slot<SlotInput, SlotOutput>(),
  /** `isNew`: it has never served. `isAfresh`: neither, and an earlier attempt left incomplete data. */
  startDatastore: slot<
    DatastoreSlot & { isNew: boolean; isAfresh: boolean },
    SlotOutput & { hostPort: number; notice: string | null }
  >(),
  awaitAnswer: slot<DatastoreSlot, SlotOutput>(),
  /** Ends with the reason why the datastore stopped serving. */
  keepDatastore: slot<DatastoreSlot, SlotOutput & { code: string; message: string; servedMs: number }>(),
  applyLimits: slot<DatastoreSlot & DatastoreLimits, SlotOutput & { notice: string | null }>(),
  awaitBackupTime: slot<SlotInput & { schedule: string; since: string }, SlotOutput & { backupId: string }>(),
  beginBackup: slot<DatastoreSlot & { backupId: string }, SlotOutput>(),
  /** Makes a final backup if possible. */
  saveDatastore: slot<DatastoreSlot & { backupId: string }, SlotOutput & { isGood: boolean }>(),
  /** Removes its container and frees its name. The volume stays. */
  trashDatastore: slot<SlotInput, SlotOutput & { hasVolume: boolean; sizeBytes: number | null }>(),
  awaitExpiry: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
  /** Takes its name again. */
  reclaimDatastore: slot<SlotInput & { name: string }, SlotOutput>(),
  /** Obtains the image, and refuses what cannot be moved. The server keeps serving. */
  checkUpgrade: slot<UpgradeSlot, SlotOutput>(),
  /** Closes the server to clients and copies its data. Fails if an earlier copy was interrupted. */
  copyData: slot<UpgradeSlot, SlotOutput>(),
  undoUpgrade: slot<UpgradeSlot, SlotOutput>(),
  switchVolume: slot<UpgradeSlot, SlotOutput>(),
  removeDatastore: slot<SlotInput & { backupId: string | null }, SlotOutput>(),
  /** Shorter when the datastore only waits for Docker. */
  awaitRetry: slot<SlotInput & { wakeAt: number; code: string }, SlotOutput>(),
}

export const slotInput = ({ context: { id, kind, version } }: { context: DatastoreContext }) => ({
  id,
  kind,
  version,
})

export function initialContext(input: DatastoreInput): DatastoreContext {
  return {
    ...input,
    hostPort: null,
    limitsRevision: 1,
    limitsSettled: 1,
    limitsTrouble: null,
    notice: null,
    wasBegun: false,
    hasServed: false,
    backupsSince: input.at,
    dueBackupId: null,
    trash: null,
    upgrade: null,
    former: null,
    phase: null,
    error: null,
    failures: 0,
    retryAt: null,
    updatedAt: input.at,
  }
}
