// A backup of a disk: the archive that the engine makes of its volume, packed, and read back to its end.
import type { BackupSlotInput, DumpFacts } from '../../../machines/backup.ts'
import type { DiskSubject } from '../../../machines/backup-subject.ts'
import { examineDisk, unzipped, zipped } from '../../archive/disk-archive.ts'
import { diskFolder, readDisk } from '../../docker/containers/disk-files.ts'
import { findVolume } from '../../docker/containers/volumes.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { measured } from '../../object-storage/measured.ts'
import type { StoredObject } from '../../object-storage/object-store.ts'
import { addressOf, reported } from './file.ts'
import type { BackupPorts, TransferPorts } from './ports.ts'

type DiskBackup = Extract<BackupSlotInput, DiskSubject>

export async function dumpDisk(
  ports: BackupPorts,
  input: DiskBackup,
  signal: AbortSignal,
): Promise<DumpFacts> {
  const { id, disk } = input
  // Docker would create a missing volume.
  if ((await findVolume(ports.engine, ports.owner, disk)) === null)
    throw new Failure('not_found', `the disk ${disk} no longer exists`)
  const { place, name } = addressOf(input)
  const store = ports.places.open(place)
  const put = (archive: AsyncIterable<Uint8Array>) => {
    const content = reported(ports, id, { sizeBytes: null, content: zipped(archive) })
    return store.put(name, content, signal)
  }
  return readDisk(ports, { id, disk }, put, signal)
}

/** Reads all of it. Throws `backup_failed` with the reason if it is not the whole archive of a disk. */
export async function verifyDisk(
  ports: TransferPorts,
  { id, stored }: { id: string; stored: StoredObject },
  signal: AbortSignal,
): Promise<DumpFacts> {
  const { content, facts } = measured(reported(ports, id, stored))
  try {
    await examineDisk(unzipped(content), diskFolder, signal)
    return facts()
  } catch (error) {
    if (codeOf(error) !== 'archive_invalid') throw error
    throw new Failure('backup_failed', `it is incomplete: ${messageOf(error)}`)
  } finally {
    ports.progress.delete(id)
  }
}
