// What a datastore is made from, what its actor remembers, and what it asks its effects for: plain JSON.
// The password is in the secret store. Slots read it by id; it is never in here.
import type { Problem } from '../problem.ts'
import { type SlotInput, type SlotOutput, slot } from '../slot.ts'

export type DatastoreKind = 'postgres' | 'redis'

/** null follows the server's default. */
export interface DatastoreLimits {
  memoryMb: number | null
  cpus: number | null
}

/** When it is backed up by itself, and how many of those are kept. */
export interface BackupPlan {
  /** As cron writes it, in UTC; null for never. */
  schedule: string | null
  keep: number
}

export interface DatastoreInput extends DatastoreLimits {
  id: string
  name: string
  kind: DatastoreKind
  /** The server's, as in the tag of its image. */
  version: string
  /** null for what has none. */
  database: string | null
  username: string
  backups: BackupPlan
  at: string
  /** Of a datastore whose snapshot was lost: what else is known of it. */
  known?: { hasServed: boolean; hostPort: number | null; createdAt: string }
}

export type DatastoreEvent =
  | ({ type: 'limits.set'; at: string; by: string } & Partial<DatastoreLimits>)
  | ({ type: 'backups.set'; at: string; by: string } & Partial<BackupPlan>)
  | { type: 'restart'; at: string; by: string }
  | { type: 'delete'; at: string; by: string; keep: TrashPlan | null }
  | { type: 'reclaim'; at: string; by: string; name: string }

/** What a deletion keeps; null for nothing. */
export interface TrashPlan {
  expiresAt: string
  /** Of the final backup. */
  backupId: string
}

/** A deleted datastore: its volume stays until `expiresAt`. */
export interface Trash {
  deletedAt: string
  expiresAt: string
  /** Of the final backup; null for one that was not made. */
  backupId: string | null
  /** Of the volume; null when it is not known. */
  sizeBytes: number | null
  /** The name that the restore gives it. */
  wantedName: string | null
  /** Why it was not restored. */
  trouble: Problem | null
}

/** What starting brings: the port of the host, chosen once and kept, and what differs from what was asked. */
export interface StartOutput extends SlotOutput {
  hostPort: number
  notice: string | null
}

/** Why it does not serve any more, and for how long it did. */
export interface LossOutput extends SlotOutput {
  code: string
  message: string
  servedMs: number
}

/** The time has come, for a backup of this id. */
export interface DueOutput extends SlotOutput {
  backupId: string
}

export interface SaveOutput extends SlotOutput {
  isGood: boolean
}

export interface TrashOutput extends SlotOutput {
  /** Whether there is a volume. */
  hasVolume: boolean
  sizeBytes: number | null
}

export interface DatastoreContext extends DatastoreInput {
  hostPort: number | null
  /** How often the limits were set, and which of them the container has or was refused. */
  limitsRevision: number
  limitsSettled: number
  limitsTrouble: Problem | null
  notice: string | null
  /** Whether a start was ever tried: what it left is half made until it serves for the first time. */
  wasBegun: boolean
  /** Whether it ever served: it is started again then, not created. */
  hasServed: boolean
  /** The next backup is the first one that was due after this. */
  backupsSince: string
  dueBackupId: string | null
  /** null unless the datastore is deleted. */
  trash: Trash | null
  phase: Phase | null
  error: Problem | null
  /** Attempts in a row that failed. */
  failures: number
  retryAt: number | null
  updatedAt: string
}

export type Phase = 'pulling' | 'stopping' | 'starting' | 'probing' | 'saving'

export interface DatastoreSlot extends SlotInput {
  kind: DatastoreKind
  version: string
}

export const slots = {
  obtainImage: slot<DatastoreSlot, SlotOutput>(),
  stopDatastore: slot<SlotInput, SlotOutput>(),
  startDatastore: slot<DatastoreSlot & { isNew: boolean; isAfresh: boolean }, StartOutput>(),
  awaitAnswer: slot<DatastoreSlot, SlotOutput>(),
  keepDatastore: slot<DatastoreSlot, LossOutput>(),
  applyLimits: slot<DatastoreSlot & DatastoreLimits, SlotOutput & { notice: string | null }>(),
  awaitBackupTime: slot<SlotInput & { schedule: string; since: string }, DueOutput>(),
  beginBackup: slot<DatastoreSlot & { backupId: string }, SlotOutput>(),
  /** Makes a final backup if possible. */
  saveDatastore: slot<DatastoreSlot & { backupId: string }, SaveOutput>(),
  /** Removes its container and frees its name. The volume stays. */
  trashDatastore: slot<SlotInput, TrashOutput>(),
  awaitExpiry: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
  /** Takes its name again. */
  reclaimDatastore: slot<SlotInput & { name: string }, SlotOutput>(),
  removeDatastore: slot<SlotInput & { backupId: string | null }, SlotOutput>(),
  /** Not so long for one that only waits for Docker. */
  awaitRetry: slot<SlotInput & { wakeAt: number; code: string }, SlotOutput>(),
}

/** What every slot gets. */
export const own = ({ context: { id, kind, version } }: { context: DatastoreContext }) => ({
  id,
  kind,
  version,
})

export function initialContext({ known, ...input }: DatastoreInput): DatastoreContext {
  return {
    ...input,
    at: known?.createdAt ?? input.at,
    hostPort: known?.hostPort ?? null,
    limitsRevision: 1,
    limitsSettled: 1,
    limitsTrouble: null,
    notice: null,
    wasBegun: false,
    hasServed: known?.hasServed ?? false,
    backupsSince: input.at,
    dueBackupId: null,
    trash: null,
    phase: null,
    error: null,
    failures: 0,
    retryAt: null,
    updatedAt: input.at,
  }
}

/** A restored datastore starts on its volume, as after a stop. */
export const leftTrash = ({ trash, limitsRevision, name }: DatastoreContext, at: string) => ({
  name: trash?.wantedName ?? name,
  trash: null,
  limitsSettled: limitsRevision,
  limitsTrouble: null,
  error: null,
  failures: 0,
  retryAt: null,
  backupsSince: at,
  updatedAt: at,
})
