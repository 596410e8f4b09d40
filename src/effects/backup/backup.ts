// The effects of a backup, one file for each slot of its chart.
import type { BackupSlotInput, machine } from '../../../machines/backup.ts'
import type { Effects } from '../../../machines/slot.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import { checkBackup, dumpDatastore } from './dump.ts'
import { removeFile } from './file.ts'
import type { BackupPorts } from './ports.ts'
import { pruneBackups } from './retention.ts'

export function backupEffects(ports: BackupPorts): Effects<typeof machine> {
  const remove = async (input: BackupSlotInput, signal: AbortSignal) => {
    const work = async () => {
      await ports.tools.remove(input.id)
      await removeFile(ports.settings, input)
    }
    // The backup directory may be missing or unwritable for a while.
    await retryUntilCleanedUp(ports, input.id, signal, work, () => true)
    return { at: isoNow() }
  }
  return {
    dumpDatastore: dumpDatastore(ports),
    checkBackup: checkBackup(ports),
    pruneBackups: pruneBackups(ports),
    discardDump: remove,
    removeBackup: remove,
    awaitRetry: awaitExpiry,
  }
}
