// Lists the objects that an actor created and that still exist. A user decides about them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupRecord } from '../../../machines/backup.ts'
import type { ActorRecord } from '../../../storage/actors/actors.ts'
import { edgeName, listEdgeContainers } from '../../docker/containers/edge-container.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import { hasVolume } from '../../docker/containers/volumes.ts'
import {
  type ContainerKind,
  datastoreName,
  jobKind,
  preDeployKind,
  toolKind,
  volumeName,
} from '../../docker/engine/names.ts'
import { listImages } from '../../docker/images/images.ts'
import { folderPlace, recordAddress } from '../../domain/backup-files.ts'
import type { BackupPlaces } from '../backup-place/backup-places.ts'
import type { SharedPorts } from '../ports.ts'
import type { EnginePorts } from './ports.ts'

export interface LeftBehind {
  type: 'container' | 'volume' | 'image' | 'file'
  name: string
}

interface Parts extends Pick<EnginePorts, 'engine' | 'owner'>, Pick<SharedPorts, 'storage'> {
  instances: Instances
  places: BackupPlaces
  serverBackups: { places: BackupPlaces }
  settings: { dataDir: string }
}

type LeftoverLister = (
  ports: Parts,
  actor: { id: string; service_id: string | null },
) => Promise<LeftBehind[]>

/** Throws `docker_unavailable`: an actor is not discarded unless its objects can be listed. */
export async function listLeftBehind(
  ports: Parts,
  actor: { kind: string; id: string; service_id: string | null },
): Promise<LeftBehind[]> {
  return (await leftoverListers[actor.kind]?.(ports, actor)) ?? []
}

const leftoverListers: Record<string, LeftoverLister> = {
  backup: (ports, { id }) => listBackupObjects(ports, id),
  certificate: async (ports, { id }) => existingFiles(certificateFilesOf(ports, id)),
  datastore: listDatastoreObjects,
  deploy: async (ports, { id }) => [
    ...(await listContainers(ports, { deployId: id }, [undefined, preDeployKind, toolKind])),
    ...(await listImages(ports.engine, ports.owner))
      .filter(({ deployId }) => deployId === id)
      .map(({ name }) => ({ type: 'image' as const, name })),
    ...existingFiles([join(ports.settings.dataDir, 'work', id)]),
  ],
  'disk-chown': (ports, { id }) => listContainers(ports, { deployId: id }, [toolKind]),
  'disk-removal': async (ports, { id }) => existingVolumes(ports, [ports.storage.actors.record(id)?.disk]),
  edge: async (ports) => {
    const generations = await listEdgeContainers(ports.engine, ports.owner)
    return generations.map((generation) => ({ type: 'container', name: edgeName(ports.owner, generation) }))
  },
  'job-run': (ports, { id }) => listContainers(ports, { deployId: id }, [jobKind]),
  restore: async (ports, { id }) => [
    ...(await listContainers(ports, { deployId: id }, [toolKind])),
    ...(await existingVolumes(ports, [ports.storage.actors.record(id)?.new_disk])),
    ...existingFiles([join(ports.settings.dataDir, 'restores', `${id}.file`)]),
  ],
  'server-backup': async ({ serverBackups: { places }, storage }, { id }) => {
    const record = storage.actors.record<'server-backup'>(id)
    return record ? listObjects(places, { ...record, name: record.file }) : []
  },
  'service-removal': async (ports, { id }) => [
    ...(await listContainers(ports, { serviceId: id }, [undefined, preDeployKind, jobKind])),
    ...(await existingVolumes(ports, [volumeName(ports.owner, id)])),
  ],
}

async function listDatastoreObjects(ports: Parts, { id }: { id: string }): Promise<LeftBehind[]> {
  const { actors, datastores } = ports.storage
  const record = actors.record<'datastore'>(id)
  const name = record?.name
  // An unfinished upgrade has a volume too.
  const volumes = new Set([datastores.volume(id), record?.upgrade?.id])
  const container = typeof name === 'string' ? datastoreName(ports.owner, name) : null
  const isThere = container !== null && (await ports.instances.inspect(container)) !== null
  return [
    ...(isThere ? [{ type: 'container' as const, name: container }] : []),
    ...(await listContainers(ports, { deployId: id }, [toolKind])),
    ...(await existingVolumes(
      ports,
      [...volumes].map((volume) => volume && datastoreName(ports.owner, volume)),
    )),
  ]
}

async function listContainers(
  ports: Parts,
  filter: { deployId?: string; serviceId?: string },
  kinds: (ContainerKind | undefined)[],
): Promise<LeftBehind[]> {
  const lists = kinds.map((kind) => ports.instances.list({ ...filter, ...(kind ? { kind } : {}) }))
  return (await Promise.all(lists)).flat().map(({ name }) => ({ type: 'container', name }))
}

async function existingVolumes({ engine }: Parts, names: unknown[]): Promise<LeftBehind[]> {
  const objects: LeftBehind[] = []
  for (const name of names) {
    if (typeof name === 'string' && (await hasVolume(engine, name))) objects.push({ type: 'volume', name })
  }
  return objects
}

function existingFiles(paths: string[]): LeftBehind[] {
  return paths.filter((path) => existsSync(path)).map((name) => ({ type: 'file', name }))
}

async function listBackupObjects({ storage, places }: Parts, id: string): Promise<LeftBehind[]> {
  const record = storage.actors.record(id) as (ActorRecord & BackupRecord) | null
  return typeof record?.kind === 'string' ? listObjects(places, recordAddress(record)) : []
}

/** What is in a bucket is named without a look: the bucket may be unreachable. */
function listObjects(
  places: BackupPlaces,
  { place = folderPlace, name }: { place?: string; name: string },
): LeftBehind[] {
  if (!places.has(place)) return []
  const location = places.locationOf(place, name)
  return place === folderPlace ? existingFiles([location]) : [{ type: 'file', name: location }]
}

function certificateFilesOf({ storage, settings }: Parts, id: string): string[] {
  const host = storage.actors.record(id)?.host
  return typeof host === 'string' ? [join(settings.dataDir, 'certificates', `${host}.pem`)] : []
}
