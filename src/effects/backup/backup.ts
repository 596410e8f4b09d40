// The effects of a backup, one file for each slot of its chart.
import type { BackupSlotInput, machine } from '../../../machines/backup.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { messageOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import { checkBackup, dumpDatastore } from './dump.ts'
import { removeFile } from './file.ts'
import type { BackupPorts } from './ports.ts'
import { pruneBackups } from './retention.ts'

const retryPauseMs = 30_000

export function backupEffects(ports: BackupPorts): Effects<typeof machine> {
  const remove = async (input: BackupSlotInput, signal: AbortSignal) => {
    await retryUntilCleanedUp(ports, input.id, signal, () => ports.tools.remove(input.id))
    await waitUntilRemoved(ports, input, signal)
    return { at: isoNow() }
  }
  return {
    dumpDatastore: dumpDatastore(ports),
    checkBackup: checkBackup(ports),
    pruneBackups: pruneBackups(ports),
    discardDump: remove,
    removeBackup: remove,
    async awaitRetry({ wakeAt }, signal) {
      await sleep(Math.max(0, wakeAt - Date.now()), signal)
      return { at: isoNow() }
    },
  }
}

/** The backup directory may be temporarily missing or unwritable, so the removal is retried. */
async function waitUntilRemoved(
  ports: BackupPorts,
  input: BackupSlotInput,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await removeFile(ports.settings, input)
    } catch (error) {
      ports.logger.warn({ backup: input.id, reason: messageOf(error) }, 'the file of a backup stays')
      await sleep(retryPauseMs, signal)
    }
  }
}
