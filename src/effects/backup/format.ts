// How the data of both kinds of datastores are written to a file. The server's own programs verify the file
// by reading all of it.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import type { Command } from '../../docker/exec/exec.ts'
import type { Credentials } from '../../domain/datastore-urls.ts'

export interface BackupFormat {
  /** The command that writes the dump to standard output. */
  dump(credentials: Credentials): Command
  /** Reads the backup from standard input to the end; exit code 0 means that it is complete. */
  check: Command
}

const postgres: BackupFormat = {
  dump: ({ username, password, database }) => ({
    argv: ['pg_dump', '-h', '127.0.0.1', '-U', username, '-d', database!, '--format=custom'],
    env: { PGPASSWORD: password },
  }),
  check: { argv: ['pg_restore', '-f', '/dev/null'] },
}

// redis-cli would append its end marker to a stream, so it writes to a file, which it ends properly.
const redis: BackupFormat = {
  dump: ({ password }) => ({
    argv: ['sh', '-c', 'redis-cli -h 127.0.0.1 --rdb /tmp/dump.rdb >&2 && cat /tmp/dump.rdb'],
    env: { REDISCLI_AUTH: password },
  }),
  check: { argv: ['sh', '-c', 'cat > /tmp/dump.rdb && redis-check-rdb /tmp/dump.rdb >&2'] },
}

export const formats: Record<DatastoreKind, BackupFormat> = { postgres, redis }
