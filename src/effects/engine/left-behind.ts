// What an actor has made and still is there: a person decides what becomes of it. Nothing here is removed.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupRecord } from '../../../machines/backup.ts'
import type { ActorRecord } from '../../../storage/actors/actors.ts'
import { edgeName, listEdgeContainers } from '../../docker/containers/edge-container.ts'
import { hasVolume } from '../../docker/containers/volumes.ts'
import {
  type ContainerKind,
  datastoreName,
  jobKind,
  preDeployKind,
  toolKind,
  volumeName,
} from '../../docker/engine/names.ts'
import { backupPath } from '../../domain/backup-names.ts'
import type { Host } from '../host.ts'
import { listOwnImages } from './images-in-use.ts'

export interface LeftBehind {
  type: 'container' | 'volume' | 'image' | 'file'
  name: string
}

type Parts = Pick<Host, 'instances' | 'engine' | 'owner' | 'settings' | 'storage'>
type Look = (host: Parts, actor: { id: string; service_id: string | null }) => Promise<LeftBehind[]>

/** Throws `docker_unavailable`: what cannot be listed is not given up. */
export async function listLeftBehind(
  host: Parts,
  actor: { kind: string; id: string; service_id: string | null },
): Promise<LeftBehind[]> {
  return (await looks[actor.kind]?.(host, actor)) ?? []
}

const looks: Record<string, Look> = {
  backup: async (host, { id }) => filesThere([...backupFilesOf(host, id)]),
  certificate: async (host, { id }) => filesThere(certificateFilesOf(host, id)),
  datastore: ofDatastore,
  deploy: async (host, { id }) => [
    ...(await containersOf(host, { deployId: id }, [undefined, preDeployKind, toolKind])),
    ...(await listOwnImages(host))
      .filter(({ deployId }) => deployId === id)
      .map(({ name }) => ({ type: 'image' as const, name })),
    ...filesThere([join(host.settings.dataDir, 'work', id)]),
  ],
  'disk-removal': async (host, { id }) => volumesThere(host, [host.storage.actors.record(id)?.disk]),
  edge: async (host) => {
    const generations = await listEdgeContainers(host.engine, host.owner)
    return generations.map((one) => ({ type: 'container', name: edgeName(host.owner, one) }))
  },
  'job-run': (host, { id }) => containersOf(host, { deployId: id }, [jobKind]),
  restore: async (host, { id }) => [
    ...(await containersOf(host, { deployId: id }, [toolKind])),
    ...filesThere([join(host.settings.dataDir, 'restores', `${id}.file`)]),
  ],
  'service-removal': async (host, { id }) => [
    ...(await containersOf(host, { serviceId: id }, [undefined, preDeployKind, jobKind])),
    ...(await volumesThere(host, [volumeName(host.owner, id)])),
  ],
}

async function ofDatastore(host: Parts, { id }: { id: string }): Promise<LeftBehind[]> {
  const { actors, datastores } = host.storage
  const name = actors.record(id)?.name
  const volume = datastores.volume(id)
  const container = typeof name === 'string' ? datastoreName(host.owner, name) : null
  const isThere = container !== null && (await host.instances.inspect(container)) !== null
  return [
    ...(isThere ? [{ type: 'container' as const, name: container }] : []),
    ...(await volumesThere(host, [volume === null ? null : datastoreName(host.owner, volume)])),
  ]
}

async function containersOf(
  host: Parts,
  filter: { deployId?: string; serviceId?: string },
  kinds: (ContainerKind | undefined)[],
): Promise<LeftBehind[]> {
  const lists = kinds.map((kind) => host.instances.list({ ...filter, ...(kind ? { kind } : {}) }))
  return (await Promise.all(lists)).flat().map(({ name }) => ({ type: 'container', name }))
}

async function volumesThere({ engine }: Parts, names: unknown[]): Promise<LeftBehind[]> {
  const found: LeftBehind[] = []
  for (const name of names) {
    if (typeof name === 'string' && (await hasVolume(engine, name))) found.push({ type: 'volume', name })
  }
  return found
}

function filesThere(paths: string[]): LeftBehind[] {
  return paths.filter((path) => existsSync(path)).map((name) => ({ type: 'file', name }))
}

function backupFilesOf({ storage, settings }: Parts, id: string): string[] {
  const record = storage.actors.record(id) as (ActorRecord & BackupRecord) | null
  if (typeof record?.datastore !== 'string') return []
  const { datastore: datastoreName, kind, created_at: at } = record
  return [backupPath(settings.backupDir, { id, datastoreName, kind, at })]
}

function certificateFilesOf({ storage, settings }: Parts, id: string): string[] {
  const host = storage.actors.record(id)?.host
  return typeof host === 'string' ? [join(settings.dataDir, 'certificates', `${host}.pem`)] : []
}
