// Volumes: the only objects whose loss is a loss of data. Making one that exists gives Docker's existing one
// back, so whose it is must be looked at; nothing here removes a volume that was not named.
import type { VolumeInspectInfo } from 'dockerode'
import { Failure } from '../errors.ts'
import { acceptStatus, type Engine, orNull } from './client.ts'
import { isOurs, type Owner, ownerFilter, ownerLabels } from './names.ts'

export interface Volume {
  name: string
  labels: Record<string, string>
}

/** Makes the volume, or adopts ours of that name. Throws `docker_error` when it is somebody else's. */
export async function ensureVolume(
  engine: Engine,
  owner: Owner,
  name: string,
  labels: Record<string, string> = {},
): Promise<Volume> {
  const found = (await findToChange(engine, owner, name)) ?? (await create(engine, owner, name, labels))
  return toVolume(requireOurs(owner, found))
}

/** Removes the volume and its data. Gone already is fine; one in use is refused with `docker_error`. */
export async function removeVolume(engine: Engine, owner: Owner, name: string): Promise<void> {
  if ((await findToChange(engine, owner, name)) === null) return
  const removal = engine.call(`remove the volume ${name}`, (abortSignal) =>
    engine.docker.getVolume(name).remove({ abortSignal }),
  )
  await acceptStatus(404, removal)
}

export async function listVolumes({ call, docker }: Engine, owner: Owner): Promise<Volume[]> {
  const filters = { label: ownerFilter(owner) }
  const answer = await call('list volumes', (abortSignal) => docker.listVolumes({ filters, abortSignal }))
  return (answer.Volumes ?? []).map(toVolume).sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function create({ call, docker }: Engine, owner: Owner, name: string, labels: Record<string, string>) {
  const options = { Name: name, Labels: { ...labels, ...ownerLabels(owner) } }
  await call(`create the volume ${name}`, (abortSignal) => docker.createVolume({ ...options, abortSignal }))
  return call(`inspect the volume ${name}`, (abortSignal) => docker.getVolume(name).inspect({ abortSignal }))
}

async function findToChange({ call, docker }: Engine, owner: Owner, name: string) {
  const inspection = call(`inspect the volume ${name}`, (abortSignal) =>
    docker.getVolume(name).inspect({ abortSignal }),
  )
  const found = await orNull(inspection)
  return found && requireOurs(owner, found)
}

function requireOurs(owner: Owner, found: VolumeInspectInfo): VolumeInspectInfo {
  if (isOurs(owner, found.Labels)) return found
  throw new Failure('docker_error', `the volume '${found.Name}' belongs to somebody else and is left alone`)
}

function toVolume(found: VolumeInspectInfo): Volume {
  return { name: found.Name, labels: found.Labels ?? {} }
}
