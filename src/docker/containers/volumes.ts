// Volumes: the only objects whose loss means a loss of data. Creating a volume that exists returns Docker's
// existing volume, so its owner must be checked. Nothing here removes a volume that was not named.

import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { VolumeInspectInfo } from 'dockerode'
import { Failure } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import { instanceKind, isOurs, labels, type Owner, ownerFilter, ownerLabels } from '../engine/names.ts'

export interface Volume {
  name: string
  /** RFC 3339; null if the engine does not report it. */
  createdAt: string | null
  labels: Record<string, string>
}

/** Creates the volume, or adopts ours of that name. Throws `docker_error` for a foreign volume. */
export async function ensureVolume(
  engine: Engine,
  owner: Owner,
  name: string,
  marks: Record<string, string> = {},
): Promise<Volume & { isNew: boolean }> {
  const found = await findOwnOrRefuse(engine, owner, name)
  const volume = requireOurs(owner, found ?? (await create(engine, owner, name, marks)))
  return { ...toVolume(volume), isNew: found === null }
}

/** Adopts the volume of that owner. Throws `volume_exists` for any other volume of that name. */
export async function claimVolume(
  engine: Engine,
  owner: Owner,
  name: string,
  claim: Record<string, string>,
): Promise<Volume> {
  const found = (await inspect(engine, name)) ?? (await create(engine, owner, name, claim))
  if (isOurs(owner, found.Labels) && found.Labels?.[labels.id] === claim[labels.id]) return toVolume(found)
  throw volumeExists('volume_exists', name)
}

/** The directory of this server's volume on the engine's host; null if the volume does not exist. */
export async function findVolume(
  engine: Engine,
  owner: Owner,
  name: string,
): Promise<{ directory: string } | null> {
  const found = await inspect(engine, name)
  return found && isKnown(owner, found) ? { directory: found.Mountpoint } : null
}

/** Whether Docker itself named the volume: it was created for a VOLUME path of an image. */
export function isAnonymous(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name)
}

/** Volumes of images used to have no labels. A random name is known only from a container of this server. */
function isKnown(owner: Owner, { Name, Labels }: VolumeInspectInfo): boolean {
  return isAnonymous(Name) || isOurs(owner, Labels)
}

export async function hasVolume(engine: Engine, name: string): Promise<boolean> {
  return (await inspect(engine, name)) !== null
}

export function volumeExists(code: 'volume_exists' | 'conflict', name: string): Failure {
  return new Failure(
    code,
    `the volume ${name} already exists; its contents are left unchanged`,
    `docker volume rm ${name} deletes it and its data; or choose another name`,
  )
}

/** With `id` only a volume created for it. A missing one is fine; one in use is refused (`docker_error`). */
export async function removeVolume(engine: Engine, owner: Owner, name: string, id?: string): Promise<void> {
  const found = id === undefined ? await findOwnOrRefuse(engine, owner, name) : await inspect(engine, name)
  if (found === null) return
  if (id !== undefined && !(isOurs(owner, found.Labels) && found.Labels?.[labels.id] === id)) return
  const removal = engine.call(`remove the volume ${name}`, (abortSignal) =>
    engine.docker.getVolume(name).remove({ abortSignal }),
  )
  await acceptStatus(404, removal)
}

/** All volumes with the owner's labels, or only those that no container refers to. */
export async function listVolumes(
  { call, docker }: Engine,
  owner: Owner,
  { unused = false } = {},
): Promise<Volume[]> {
  const filters = { label: ownerFilter(owner), ...(unused && { dangling: ['true'] }) }
  const response = await call('list volumes', (abortSignal) => docker.listVolumes({ filters, abortSignal }))
  return (response.Volumes ?? []).map(toVolume).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The deploys whose instances have the volume, whether they run or not. */
export async function listVolumeUsers(
  { call, docker }: Engine,
  owner: Owner,
  name: string,
): Promise<string[]> {
  const label = [...ownerFilter(owner), `${labels.kind}=${instanceKind}`]
  const containers = await call('list the users of a volume', (abortSignal) =>
    docker.listContainers({ all: true, filters: { label, volume: [name] }, abortSignal }),
  )
  return [...new Set(containers.map(({ Labels }) => Labels[labels.id] ?? ''))]
}

async function create({ call, docker }: Engine, owner: Owner, name: string, marks: Record<string, string>) {
  const options = { Name: name, Labels: { ...marks, ...ownerLabels(owner) } }
  await call(`create the volume ${name}`, (abortSignal) => docker.createVolume({ ...options, abortSignal }))
  return call(`inspect the volume ${name}`, (abortSignal) => docker.getVolume(name).inspect({ abortSignal }))
}

async function findOwnOrRefuse(engine: Engine, owner: Owner, name: string) {
  const found = await inspect(engine, name)
  return found && requireOurs(owner, found)
}

function inspect({ call, docker }: Engine, name: string): Promise<VolumeInspectInfo | null> {
  const inspection = call(`inspect the volume ${name}`, (abortSignal) =>
    docker.getVolume(name).inspect({ abortSignal }),
  )
  return orNull(inspection)
}

function requireOurs(owner: Owner, found: VolumeInspectInfo): VolumeInspectInfo {
  if (isKnown(owner, found)) return found
  throw new Failure(
    'docker_error',
    `the volume '${found.Name}' does not belong to this server and is left alone`,
  )
}

function toVolume(found: VolumeInspectInfo): Volume {
  const { CreatedAt: createdAt = null } = found as { CreatedAt?: string }
  return { name: found.Name, createdAt, labels: found.Labels ?? {} }
}

const blockBytes = 512

/** null if unreadable (remote engine, not root) or aborted. Files that vanish are left out. */
export async function volumeBytes(directory: string, signal: AbortSignal): Promise<number | null> {
  let bytes = 0
  const waiting = [directory]
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = await opendir(current).catch(() => null)
    if (entries === null && current === directory) return null
    for await (const entry of entries ?? []) {
      if (signal.aborted) return null
      const path = join(current, entry.name)
      bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * blockBytes
      if (entry.isDirectory()) waiting.push(path)
    }
  }
  return bytes
}
