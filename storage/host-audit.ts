// Adds an entry to the audit log of a data directory, for commands on the server itself. Works with and
// without a running daemon.
import { Audit, type HostCommand } from './audit.ts'
import { requireCurrentSchema } from './store/migrations.ts'
import { openStore } from './store/store.ts'

/** Throws `store_other_version` for another schema. */
export async function recordHostCommand(directory: string, command: HostCommand): Promise<void> {
  const store = openStore(directory, { onPanic: (reason) => void process.stderr.write(`${reason}\n`) })
  try {
    requireCurrentSchema(store)
    const audit = new Audit(store)
    await store.commit(() => audit.putHostCommand(command))
  } finally {
    await store.close()
  }
}
