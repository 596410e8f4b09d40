// The effects of a backup, one file for each thing its chart asks for.
import type { BackupSlot, machine } from '../../../machines/backup.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { messageOf } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { retryUntilCleanedUp } from '../waiting.ts'
import { checkBackup, dumpDatastore } from './dump.ts'
import { removeFile } from './file.ts'
import { pruneBackups } from './retention.ts'

const removeAgainMs = 30_000

export function backupEffects(host: Host): Effects<typeof machine> {
  const remove = async (input: BackupSlot, signal: AbortSignal) => {
    await retryUntilCleanedUp(host, input.id, signal, () => host.tools.remove(input.id))
    await untilRemoved(host, input, signal)
    return { at: isoNow() }
  }
  return {
    dumpDatastore: dumpDatastore(host),
    checkBackup: checkBackup(host),
    pruneBackups: pruneBackups(host),
    discardDump: remove,
    removeBackup: remove,
    async awaitRetry({ wakeAt }, signal) {
      await sleep(Math.max(0, wakeAt - Date.now()), signal)
      return { at: isoNow() }
    },
  }
}

/** A folder that is away, or not ours any more, may come back. */
async function untilRemoved(host: Host, input: BackupSlot, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await removeFile(host.settings, input)
    } catch (error) {
      host.logger.warn({ backup: input.id, reason: messageOf(error) }, 'the file of a backup stays')
      await sleep(removeAgainMs, signal)
    }
  }
}
