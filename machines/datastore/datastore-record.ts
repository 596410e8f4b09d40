import type { SnapshotFrom } from 'xstate'
import { problemFields } from '../problem.ts'
import type { machine } from './datastore.ts'

const deletingStates = ['saving', 'trashing', 'deleting'] as const

export type DatastoreSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: DatastoreSnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    name: context.name,
    kind: context.kind,
    version: context.version,
    status: statusOf(snapshot),
    phase: context.phase,
    ...problemFields(context.error),
    notice: context.notice,
    database: context.database,
    username: context.username,
    host_port: context.hostPort,
    memory_limit_mb: context.memoryMb,
    cpu_limit: context.cpus,
    limits: {
      revision: context.limitsRevision,
      settled: context.limitsSettled,
      trouble: context.limitsTrouble,
    },
    backup_schedule: context.backups.schedule,
    backup_keep: context.backups.keep,
    backup_keep_days: context.backups.keepDays ?? null,
    backup_place: context.backups.place ?? null,
    /** The next backup is the first one that was due after this. */
    backups_since: context.backupsSince,
    /** Also null when it can no longer be restored. */
    trash: isRecoverable(snapshot) &&
      context.trash && {
        deleted_at: context.trash.deletedAt,
        expires_at: context.trash.expiresAt,
        backup_id: context.trash.backupId,
        size_bytes: context.trash.sizeBytes,
        trouble: context.trash.trouble,
      },
    upgrade: context.upgrade && {
      id: context.upgrade.id,
      from: context.upgrade.from.version,
      to: context.upgrade.to.version,
      ...problemFields(context.upgrade.error),
      started_at: context.upgrade.startedAt,
      finished_at: context.upgrade.finishedAt,
    },
    former: context.former && {
      version: context.former.version,
      volume: context.former.volume,
      removal_id: context.former.removalId,
      switched_at: context.former.switchedAt,
    },
    /** A parked actor has the status `failed`: only this field shows that its data is being deleted. */
    deleting: snapshot.matches('deleting'),
    failures: context.failures,
    next_attempt_at: context.retryAt === null ? null : new Date(context.retryAt).toISOString(),
    created_at: context.at,
    updated_at: context.updatedAt,
  }
}

export type DatastoreRecord = ReturnType<typeof toRecord>

/** A failed datastore stays `failed` during retries, until it serves. */
function statusOf(snapshot: DatastoreSnapshot) {
  if (deletingStates.some((state) => snapshot.matches(state))) return 'deleting'
  if (snapshot.matches('trashed')) return 'trashed'
  if (snapshot.matches('deleted')) return 'deleted'
  if (snapshot.matches({ wanted: { life: 'available' } })) return 'available'
  if (snapshot.matches({ wanted: { life: 'upgrading' } })) return 'upgrading'
  if (snapshot.context.error) return 'failed'
  return snapshot.context.hasServed ? 'restarting' : 'creating'
}

function isRecoverable(snapshot: DatastoreSnapshot): true | null {
  return snapshot.matches('deleting') || snapshot.matches('deleted') ? null : true
}
