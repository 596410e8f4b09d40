// Rebuilds a datastore without a usable snapshot from its record. It starts on its volume, as after a
// restart. Not rebuilt: a datastore in the trash, which would claim its name again, and one that was being
// deleted, because its volume may be gone.
import { type RebuildFrom, textsOf } from '../rebuild.ts'
import type { DatastoreInput, DatastoreKind } from './datastore-context.ts'

const defaultBackupsRetained = 7

export function rebuild({ record, at }: RebuildFrom): DatastoreInput | null {
  const fields = textsOf(record, 'id', 'name', 'kind', 'version', 'username', 'created_at')
  if (!fields || record.trash || record.deleting) return null
  const { id, name, version, username, created_at: createdAt } = fields
  const hostPort = numberOf(record.host_port)
  const schedule = typeof record.backup_schedule === 'string' ? record.backup_schedule : null
  return {
    id,
    name,
    kind: fields.kind as DatastoreKind,
    version,
    database: typeof record.database === 'string' ? record.database : null,
    username,
    backups: { schedule, keep: numberOf(record.backup_keep) ?? defaultBackupsRetained },
    memoryMb: numberOf(record.memory_limit_mb),
    cpus: numberOf(record.cpu_limit),
    at,
    // A datastore with a port had a container, so its volume may have data.
    known: { hasServed: hostPort !== null, hostPort, createdAt },
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
