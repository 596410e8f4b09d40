// Moves what an instance has written to the VOLUME paths of its image into the trash before the instance is
// removed. Instances that never served keep nothing.

import type { InspectedContainer } from '../../docker/containers/find-container.ts'
import { findChangedVolumes, type ImageVolume } from '../../docker/containers/image-volumes.ts'
import { labels } from '../../docker/engine/names.ts'
import { count } from '../../quantities.ts'
import { byServer } from '../by.ts'
import type { EnginePorts } from '../engine/ports.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'

export interface ImageVolumePorts extends SharedPorts, Pick<EnginePorts, 'engine' | 'owner'> {
  settings: { trashDays: number }
}

const dayMs = 24 * 60 * 60 * 1000
/** Per service and path. */
const maxKept = 3

/** Returns the names of the volumes that stay. */
export async function keepImageVolumes(
  ports: ImageVolumePorts,
  container: InspectedContainer,
): Promise<string[]> {
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
function isCandidate(
  { storage: { actors } }: ImageVolumePorts,
  deployId: string,
  serviceId: string,
): boolean {
  const isActive = [...actors.active('deploy', serviceId)].some(({ id }) => id === deployId)
  const status = actors.record(deployId)?.status ?? ''
  return isActive && actors.parkedOf(deployId) === null && ['running', 'failed', 'canceled'].includes(status)
}

async function moveToTrash(
  ports: ImageVolumePorts,
  service: { id: string; name: string },
  { volume, path }: ImageVolume,
): Promise<void> {
  const { storage, actors, settings, logger } = ports
  const kept = imageVolumesInTrash(ports, service.id, path)
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

/** The newest first. */
function imageVolumesInTrash({ storage: { actors } }: ImageVolumePorts, serviceId: string, path: string) {
  return [...actors.active('disk-removal', serviceId)]
    .map(({ id }) => actors.record<'disk-removal'>(id))
    .filter((record) => record !== null)
    .filter(({ mount_path }) => mount_path === path)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
}
