// A restore of the disk of a service: into a new volume, which is compared with the file before it becomes
// the disk. The former volume goes to the trash.
import type { DiskRestoreSlot } from '../../../machines/restore.ts'
import { type DiskContent, examineDisk, unzipped } from '../../archive/disk-archive.ts'
import { diskFolder, readDisk, writeDisk } from '../../docker/containers/disk-files.ts'
import { ensureVolume, listVolumeUsers, removeVolume } from '../../docker/containers/volumes.ts'
import { diskKind, labels } from '../../docker/engine/names.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { putPushed } from '../../object-storage/pushed.ts'
import { verifyDisk } from '../backup/disk.ts'
import { reported } from '../backup/file.ts'
import { byServer } from '../by.ts'
import { stopInstances } from '../deploy/end/drain.ts'
import { withDiskLock } from '../deploy/start/disk-claim.ts'
import { guardDockerDisk } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import { openRestoreFile, type RestorePorts } from './step.ts'

const dayMs = 24 * 60 * 60_000

/** Each step is idempotent. What Docker refuses is thrown as `docker_error`. */
export const diskRestorer = { check, load, switchOver, tidy, undo }

async function check(ports: RestorePorts, input: DiskRestoreSlot, signal: AbortSignal): Promise<void> {
  await verifyDisk(ports, { id: input.id, stored: await openRestoreFile(ports, input, signal) }, signal)
}

async function load(ports: RestorePorts, input: DiskRestoreSlot, signal: AbortSignal): Promise<void> {
  const { id, newDisk, serviceId, serviceName } = input
  // What an interrupted attempt has left.
  await undo(ports, input)
  const marks = { [labels.kind]: diskKind, [labels.id]: serviceId, [labels.service]: serviceName }
  await ensureVolume(ports.engine, ports.owner, newDisk, marks)
  try {
    await guardDockerDisk(ports, 'a restore', signal, (bound) => fill(ports, input, bound))
  } catch (error) {
    signal.throwIfAborted()
    const isRefused = codeOf(error) === 'docker_error'
    throw isRefused ? new Failure('restore_failed', messageOf(error)) : error
  } finally {
    ports.progress.delete(id)
  }
}

async function fill(ports: RestorePorts, input: DiskRestoreSlot, signal: AbortSignal): Promise<void> {
  const use = { id: input.id, disk: input.newDisk }
  const file = reported(ports, input.id, await openRestoreFile(ports, input, signal))
  let wanted: DiskContent | null = null
  await putPushed(
    (archive) => writeDisk(ports, use, archive, signal),
    async (push) => {
      wanted = await examineDisk(copied(unzipped(file), push), diskFolder, signal)
    },
  )
  const read = (archive: AsyncIterable<Uint8Array>) =>
    examineDisk(archive as AsyncIterable<Buffer>, diskFolder, signal)
  const found = await readDisk(ports, use, read, signal)
  if (isWhole(found, wanted)) return
  throw new Failure('restore_failed', 'what Docker wrote differs from the file: it has a path twice')
}

/** Folders that the file does not name are created. */
function isWhole(found: DiskContent, wanted: DiskContent | null): boolean {
  return wanted !== null && found.bytes === wanted.bytes && found.entries >= wanted.entries
}

async function* copied(pieces: AsyncIterable<Buffer>, push: (piece: Uint8Array) => Promise<void>) {
  for await (const piece of pieces) {
    await push(piece)
    yield piece
  }
}

/** The service names the new volume already: its live version starts the instances again, on that. */
async function switchOver(ports: RestorePorts, input: DiskRestoreSlot, signal: AbortSignal): Promise<void> {
  await withDiskLock(input.serviceId, signal, async () => {
    const deploys = await listVolumeUsers(ports.engine, ports.owner, input.disk)
    for (const deployId of deploys) await stopInstances(ports, deployId)
  })
}

async function tidy(ports: RestorePorts, { id, disk, serviceId, serviceName }: DiskRestoreSlot) {
  const { trashDays } = ports.settings
  const expiresAt = trashDays === 0 ? null : new Date(Date.now() + trashDays * dayMs).toISOString()
  const removal = { id: id.replace('rst-', 'dsk-'), disk, serviceId, serviceName, expiresAt, at: isoNow() }
  await ports.actors.spawn('disk-removal', removal.id, removal, { by: byServer('a restore of the disk') })
}

async function undo(ports: RestorePorts, { newDisk, serviceId, id }: DiskRestoreSlot): Promise<void> {
  await ports.tools.remove(id)
  const isDisk = ports.storage.services.get(serviceId)?.disk_volume === newDisk
  if (!isDisk) await removeVolume(ports.engine, ports.owner, newDisk)
}
