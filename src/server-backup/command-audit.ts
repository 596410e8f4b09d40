// Entries of the audit log for the commands of this folder.
import { recordHostCommand } from '../../storage/host-audit.ts'
import { messageOf } from '../errors.ts'

/** A full disk, or the store of another version, must not keep a person from making a backup. */
export async function recordCommand(dataDir: string, action: string): Promise<void> {
  const subject = { kind: action.split('.')[0]!, id: null, name: null }
  await recordHostCommand(dataDir, { action, subject }).catch((error: unknown) => {
    process.stderr.write(`berthd: the audit log has no entry of this: ${messageOf(error)}\n`)
  })
}
