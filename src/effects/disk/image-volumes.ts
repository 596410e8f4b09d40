// What instances have written to the VOLUME paths of their images. It moves into the trash before an instance
// is removed, unless the instance never served. There it takes at most a tenth of its disk; older data make
// room for newer.
import { statfs } from 'node:fs/promises'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { InspectedContainer } from '../../docker/containers/find-container.ts'
import { findChangedVolumes, type ImageVolume } from '../../docker/containers/image-volumes.ts'
import { findVolume } from '../../docker/containers/volumes.ts'
import { labels } from '../../docker/engine/names.ts'
import { count, size } from '../../quantities.ts'
import { byServer } from '../by.ts'
import type { EnginePorts } from '../engine/ports.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'

type VolumePorts = SharedPorts & Pick<EnginePorts, 'engine' | 'owner'>
type KeepPorts = VolumePorts & { settings: { trashDays: number } }
type Removal = RecordOf<'disk-removal'>

const dayMs = 24 * 60 * 60 * 1000
/** Per service and path. */
const maxKept = 3
/** Of the disk. */
const maxShare = 0.1

export async function keepImageVolumes(ports: KeepPorts, container: InspectedContainer): Promise<string[]> {
  const marks = container.info.Config.Labels
  const deployId = marks[labels.id] ?? ''
  const service = { id: marks[labels.serviceId] ?? '', name: marks[labels.service] ?? '' }
  if (isCandidate(ports, deployId, service.id)) return []
  const changed = await findChangedVolumes(ports, container)
  if (ports.settings.trashDays === 0) {
    for (const { path } of changed)
      ports.logger.warn(
        { service: service.name, path },
        'the data of an instance is deleted: --trash-days is 0',
      )
    return []
  }
  for (const volume of changed) await moveToTrash(ports, service, volume)
  return changed.map(({ volume }) => volume)
}

/** Whether its deploy still decides whether it goes live, or has decided that it does not. */
function isCandidate({ storage: { actors } }: KeepPorts, deployId: string, serviceId: string): boolean {
  const isActive = [...actors.active('deploy', serviceId)].some(({ id }) => id === deployId)
  const status = actors.record(deployId)?.status ?? ''
  return isActive && actors.parkedOf(deployId) === null && ['running', 'failed', 'canceled'].includes(status)
}

async function moveToTrash(
  ports: KeepPorts,
  service: { id: string; name: string },
  { volume, path }: ImageVolume,
): Promise<void> {
  const { storage, actors, settings, logger } = ports
  const kept = removals(ports, service.id).filter(({ mount_path }) => mount_path === path)
  if (kept.some(({ disk }) => disk === volume)) return
  const input = {
    id: storage.ids.newId('dsk'),
    disk: volume,
    mountPath: path,
    serviceId: service.id,
    serviceName: service.name,
    expiresAt: new Date(Date.now() + settings.trashDays * dayMs).toISOString(),
    at: isoNow(),
  }
  await actors.spawn('disk-removal', input.id, input, { by: byServer('the removal of an instance') })
  const fact = { service: service.name, path, trash: input.id, days: settings.trashDays }
  logger.warn(fact, `the data of an instance is in the trash for ${count(settings.trashDays, 'day')}`)
  for (const { id } of kept.slice(maxKept - 1)) {
    await actors.send(id, { type: 'purge', at: isoNow(), by: 'the limit on kept volumes of an image' })
    logger.warn(
      { service: service.name, path, trash: id },
      'newer data of that path displaces it in the trash',
    )
  }
}

/** Called when a volume has been measured. That one stays: its data would be lost at once. */
export async function limitImageVolumes(
  ports: VolumePorts,
  measured: { id: string; sizeBytes: number | null },
) {
  const all = trashedVolumes(ports)
  const disk = all.find(({ id }) => id === measured.id)?.disk
  const volume = disk ? await findVolume(ports.engine, ports.owner, disk).catch(() => null) : null
  // The engine may be on another host.
  const space = volume && (await statfs(volume.directory).catch(() => null))
  if (!space) return
  const limitBytes = space.blocks * space.bsize * maxShare
  let totalBytes = measured.sizeBytes ?? 0
  for (const record of all) {
    if (record.id === measured.id) continue
    totalBytes += record.size_bytes ?? 0
    if (totalBytes > limitBytes) await purge(ports, record, `they take more than ${size(limitBytes)}`)
  }
}

function trashedVolumes(ports: VolumePorts): Removal[] {
  return removals(ports).filter(({ status }) => status === 'trashed' || status === 'measuring')
}

/** The unfinished ones of image volumes, by default of all services; the newest first. */
function removals({ storage: { actors } }: VolumePorts, serviceId?: string): Removal[] {
  return [...actors.active('disk-removal', serviceId)]
    .map(({ id }) => actors.record<'disk-removal'>(id))
    .filter((record) => record !== null)
    .filter(({ mount_path }) => mount_path !== null)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
}

async function purge({ actors, logger }: VolumePorts, record: Removal, reason: string): Promise<void> {
  const { id, service_name: service, mount_path: path, size_bytes: bytes } = record
  await actors.send(id, { type: 'purge', at: isoNow(), by: 'the server' })
  const freed = bytes === null ? 'unknown' : size(bytes)
  logger.warn({ service, path, trash: id, freed, reason }, 'the kept data of an instance is deleted')
}
