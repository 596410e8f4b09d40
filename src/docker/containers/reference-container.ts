// A container of an image that is never started: Docker fills its volumes, and its files can be read.
import type { Container } from 'dockerode'
import { hasStatus } from '../engine/client.ts'
import { labels, ownerLabels, toolKind, toolName } from '../engine/names.ts'
import { type EngineScope, removeContainer } from './find-container.ts'
import { toMount } from './spec.ts'

interface Reference {
  /** Part of its name: one of that name exists at a time. */
  key: string
  actorId: string
  image: string
  volume?: { name: string; mountPath: string; isReadOnly?: boolean }
  /** Whether only the volume can be written to. */
  isReadOnly?: boolean
}

/** Null if the engine does not have the image. The container is removed afterwards. */
export async function withReference<T>(
  scope: EngineScope,
  { key, actorId, image, volume, isReadOnly = false }: Reference,
  work: (container: Container) => Promise<T>,
): Promise<T | null> {
  const { docker, call } = scope.engine
  const name = toolName(scope.owner, key)
  const options = {
    name,
    Image: image,
    Entrypoint: ['none'],
    Labels: { ...ownerLabels(scope.owner), [labels.kind]: toolKind, [labels.id]: actorId },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: isReadOnly,
      Mounts: volume ? [toMount(volume)] : [],
    },
  }
  const create = () =>
    call(`create ${name}`, (abortSignal) => docker.createContainer({ ...options, abortSignal }))
  const remove = async () => {
    const container = docker.getContainer(name)
    await removeContainer(scope, {
      container,
      info: await call(`inspect ${name}`, () => container.inspect()),
    })
  }
  try {
    await create()
  } catch (error) {
    if (hasStatus(error, 404)) return null
    if (!hasStatus(error, 409)) throw error
    // Left by a daemon that was killed.
    await remove()
    await create()
  }
  try {
    return await work(docker.getContainer(name))
  } finally {
    await remove().catch(() => undefined)
  }
}
