// Where the file of a backup is, and how far its transfer is.
import type { BackupSlotInput } from '../../../machines/backup.ts'
import { backupAddress } from '../../domain/backup-files.ts'
import type { StoredObject } from '../../object-storage/object-store.ts'
import type { TransferPorts } from './ports.ts'

export function addressOf(input: BackupSlotInput) {
  return backupAddress({ ...input, name: input.kind === 'disk' ? input.serviceName : input.datastoreName })
}

/** Reports the progress of the actor that reads it. */
export async function* reported(
  { progress }: TransferPorts,
  id: string,
  { sizeBytes, content }: Omit<StoredObject, 'sizeBytes'> & { sizeBytes: number | null },
): AsyncGenerator<Uint8Array> {
  let doneBytes = 0
  for await (const piece of content) {
    doneBytes += piece.length
    progress.set(id, { doneBytes, totalBytes: sizeBytes })
    yield piece
  }
}
