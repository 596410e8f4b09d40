// The space that image volumes take in the trash: at most a tenth of their disk, and as little as necessary
// when a deploy finds it nearly full. The oldest go first.
import { stat, statfs } from 'node:fs/promises'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { findVolume } from '../../docker/containers/volumes.ts'
import { size } from '../../quantities.ts'
import type { EnginePorts } from '../engine/ports.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'
import { waitForCommit } from '../waiting.ts'
import { checkFreeDisk, type FreeDiskSettings } from './disk.ts'

type Ports = SharedPorts & Pick<EnginePorts, 'engine' | 'owner'>
type Removal = RecordOf<'disk-removal'>

const maxShare = 0.1
const maxRemovalMs = 60_000

/** Called when a volume has been measured. That one stays: its data would be lost at once. */
export async function limitImageVolumes(ports: Ports, measured: { id: string; sizeBytes: number | null }) {
  const all = imageVolumes(ports)
  const disk = all.find(({ id }) => id === measured.id)?.disk
  const directory = disk && (await directoryOf(ports, disk))
  if (!directory) return
  const { blocks, bsize } = await statfs(directory)
  const limitBytes = blocks * bsize * maxShare
  let totalBytes = measured.sizeBytes ?? 0
  for (const record of all) {
    if (record.id === measured.id) continue
    totalBytes += record.size_bytes ?? 0
    if (totalBytes > limitBytes) await purge(ports, record, `they take more than ${size(limitBytes)}`)
  }
}

/** Like `checkFreeDisk`, after image volumes on the same disk have made room. */
export async function makeRoom(
  ports: Ports & { settings: FreeDiskSettings },
  signal: AbortSignal,
): Promise<void> {
  const hasRoom = () =>
    checkFreeDisk(ports.settings).then(
      () => true,
      () => false,
    )
  const candidates = (await hasRoom()) ? [] : imageVolumes(ports).reverse()
  for (const record of candidates) {
    const directory = await directoryOf(ports, record.disk)
    if (!directory || (await deviceOf(directory)) !== (await deviceOf(ports.settings.dataDir))) continue
    await purge(ports, record, 'the disk is nearly full')
    await awaitRemoval(ports, record, signal)
    if (await hasRoom()) break
  }
  await checkFreeDisk(ports.settings)
}

/** Not forever: a container of the user may use the volume. */
async function awaitRemoval({ storage }: Ports, { id, service_id }: Removal, signal: AbortSignal) {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(maxRemovalMs)])
  const pending = ['measuring', 'trashed', 'removing']
  const look = () => (pending.includes(storage.actors.record(id)?.status ?? '') ? null : true)
  await waitForCommit(storage.changes, service_id, bound, look).catch(() => signal.throwIfAborted())
}

/** Those in the trash, the newest first. */
function imageVolumes({ storage: { actors } }: Ports): Removal[] {
  return [...actors.active('disk-removal')]
    .map(({ id }) => actors.record<'disk-removal'>(id))
    .filter((record) => record !== null)
    .filter(
      ({ mount_path, status }) => mount_path !== null && (status === 'trashed' || status === 'measuring'),
    )
    .sort((a, b) => (a.id < b.id ? 1 : -1))
}

async function purge({ actors, logger }: Ports, record: Removal, reason: string): Promise<void> {
  const { id, service_name: service, mount_path: path, size_bytes: bytes } = record
  await actors.send(id, { type: 'purge', at: isoNow(), by: 'the server' })
  const freed = bytes === null ? 'unknown' : size(bytes)
  logger.warn({ service, path, trash: id, freed, reason }, 'the kept data of an instance is deleted')
}

/** Null if this host does not see the volume, or the engine does not respond. */
async function directoryOf({ engine, owner }: Ports, volume: string): Promise<string | null> {
  const found = await findVolume(engine, owner, volume).catch(() => null)
  return found && (await deviceOf(found.directory)) !== null ? found.directory : null
}

function deviceOf(directory: string): Promise<number | null> {
  return stat(directory).then(
    ({ dev }) => dev,
    () => null,
  )
}
